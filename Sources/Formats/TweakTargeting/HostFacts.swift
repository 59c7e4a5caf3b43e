// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakSystem

/// A property of a host or a program that features can target.
package enum Fact: String, CaseIterable, Sendable {
    /// The operating system, `ID` of os-release, such as `debian`.
    case os
    /// Its version, `VERSION_ID` of os-release, such as `13`.
    case osVersion = "os-version"
    /// The release of the kernel, such as `6.12.48+deb13-amd64`.
    case kernel
    /// The architecture as in `uname -m`, such as `x86_64`.
    case architecture
    /// The product name of the firmware, or the model of the device tree.
    case device
    /// One of ``DeviceFamily``.
    case deviceFamily = "device-family"
    /// The name of the host.
    case host
    /// The machine id of systemd and D-Bus, unique and permanent for each host.
    case machine
    /// The name of the application.
    case application
    /// Its version.
    case applicationVersion = "application-version"
}

/// The kind of a host.
package enum DeviceFamily: String, CaseIterable, Sendable {
    case server, desktop, laptop, tablet, phone, embedded
    case virtualMachine = "virtual-machine"
    case container

    /// The family with another name that people or systemd use.
    package init?(alias: String) {
        switch alias {
        case "handset", "mobile": self = .phone
        case "pad": self = .tablet
        case "vm", "virtual machine", "virtual": self = .virtualMachine
        case "notebook", "convertible": self = .laptop
        case "watch", "iot": self = .embedded
        default: return nil
        }
    }
}

/// The known facts about a host and a program on it.
package struct HostFacts: Hashable, Sendable {
    private var texts: [Fact: String] = [:]

    /// Creates an empty set of facts.
    package init() {}

    /// A fact; `nil` if unknown. Surrounding white space is removed, and empty texts are unknown.
    package subscript(fact: Fact) -> String? {
        get { texts[fact] }
        set { texts[fact] = newValue.flatMap { trimmed($0) } }
    }

    /// Collects the facts about a host.
    ///
    /// - Parameters:
    ///   - root: `/` for this host, or a directory with the files of another one.
    ///   - application: The name of the program that the values are for, if any.
    ///   - applicationVersion: Its version.
    package init(root: String, application: String? = nil, applicationVersion: String? = nil) {
        let files = HostFiles(root: root)
        let release = files.assignments("etc/os-release") ?? files.assignments("usr/lib/os-release") ?? [:]
        self[.os] = release["ID"]
        self[.osVersion] = release["VERSION_ID"]
        self[.kernel] = files.line("proc/sys/kernel/osrelease")
        self[.architecture] = files.line("proc/sys/kernel/arch") ?? (root == "/" ? Self.machine() : nil)
        self[.device] = files.device
        self[.deviceFamily] = files.family?.rawValue
        self[.host] = files.line("proc/sys/kernel/hostname") ?? files.line("etc/hostname")
        self[.machine] = files.line("etc/machine-id") ?? files.line("var/lib/dbus/machine-id")
        // systemd's placeholder until the first boot has completed.
        if self[.machine] == "uninitialized" { self[.machine] = nil }
        self[.application] = application
        self[.applicationVersion] = applicationVersion
    }

    private static func machine() -> String? {
        var name = utsname()
        guard uname(&name) == 0 else { return nil }
        return withUnsafeBytes(of: &name.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

func trimmed(_ text: String) -> String? {
    let isSpace = { (byte: UInt8) in byte <= 0x20 }
    let bytes = text.utf8.drop(while: isSpace)
    guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return nil }
    return String(decoding: bytes[...last], as: UTF8.self)
}

/// The files of a system that describe the host.
private struct HostFiles {
    let root: String

    /// The largest of them is /proc/cpuinfo, in which the first processor suffices.
    private static let limit = 1 << 16

    private func path(_ file: String) -> String { root.hasSuffix("/") ? root + file : "\(root)/\(file)" }

    func text(_ file: String) -> String? {
        readWhole(path(file), limit: Self.limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The first line without surrounding white space; texts in a device tree end with a NUL.
    func line(_ file: String) -> String? {
        text(file)?.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0 }.first
            .flatMap { trimmed(String(Substring($0))) }
    }

    func exists(_ file: String) -> Bool { access(path(file), F_OK) == 0 }

    /// The variables in a file in the format of os-release(5).
    func assignments(_ file: String) -> [String: String]? {
        guard let text = text(file) else { return nil }
        var variables: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = trimmed(String(parts[0])), !name.hasPrefix("#") else {
                continue
            }
            variables[name] = Self.unquoted(trimmed(String(parts[1])) ?? "")
        }
        return variables
    }

    private static func unquoted(_ text: String) -> String {
        guard let quote = text.unicodeScalars.first, quote == "\"" || quote == "'" else { return text }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars.dropFirst() {
            if isEscaped {
                result.append(scalar)
                isEscaped = false
            } else if scalar == "\\", quote == "\"" {
                isEscaped = true
            } else if scalar == quote {
                break
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    var device: String? {
        let firmware = line("sys/class/dmi/id/product_name")
        // Placeholder strings of unconfigured firmware.
        let isFilledIn = ![nil, "To Be Filled By O.E.M.", "System Product Name", "Default string"].contains(
            firmware)
        return (isFilledIn ? firmware : nil) ?? line("proc/device-tree/model")
            ?? line("sys/firmware/devicetree/base/model")
    }

    // MARK: The family

    var family: DeviceFamily? {
        if let chassis = assignments("etc/machine-info")?["CHASSIS"], let family = Self.family(named: chassis)
        {
            return family
        }
        if isContainer { return .container }
        if isVirtualMachine { return .virtualMachine }
        return line("sys/class/dmi/id/chassis_type").flatMap(Int.init).flatMap(Self.family(ofChassis:))
            ?? line("sys/firmware/acpi/pm_profile").flatMap(Int.init).flatMap(Self.family(ofProfile:))
            ?? line("proc/device-tree/chassis-type").flatMap(Self.family(named:))
            ?? (exists("proc/device-tree/model") ? .embedded : nil)
    }

    private var isContainer: Bool {
        if exists("run/systemd/container") || exists(".dockerenv") || exists("run/.containerenv") {
            return true
        }
        // Only readable by root.
        return text("proc/1/environ")?.utf8.split(separator: 0).contains {
            $0.starts(with: "container=".utf8)
        }
            ?? false
    }

    private var isVirtualMachine: Bool {
        // The flags of the first processor, on x86.
        let flags = text("proc/cpuinfo")?.split(separator: "\n").first { $0.hasPrefix("flags") }
        if flags?.split(separator: " ").contains("hypervisor") == true { return true }
        if exists("proc/device-tree/hypervisor") || line("sys/hypervisor/type") == "xen" { return true }
        let vendors = [
            "QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Parallels", "Bochs", "BHYVE",
        ]
        let names = ["sys_vendor", "product_name", "bios_vendor"].compactMap {
            line("sys/class/dmi/id/\($0)")
        }
        return names.contains { name in vendors.contains { name.hasPrefix($0) } }
            || names.contains("Google Compute Engine") || names.contains("OpenStack Nova")
    }

    private static func family(named name: String) -> DeviceFamily? {
        let name = lowercased(name)
        return DeviceFamily(rawValue: name) ?? DeviceFamily(alias: name)
    }

    /// From the System Management BIOS reference specification (DSP0134), 7.4.1, grouped as in systemd-hostnamed.
    private static func family(ofChassis number: Int) -> DeviceFamily? {
        switch number {
        case 0x03, 0x04, 0x06, 0x07, 0x0D, 0x23, 0x24: .desktop
        case 0x08, 0x09, 0x0A, 0x0E, 0x1F, 0x20: .laptop
        case 0x0B: .phone
        case 0x11, 0x17, 0x1C, 0x1D: .server
        case 0x1E: .tablet
        case 0x21, 0x22: .embedded
        default: nil
        }
    }

    /// From the ACPI specification, the field Preferred_PM_Profile of the fixed description table.
    private static func family(ofProfile number: Int) -> DeviceFamily? {
        switch number {
        case 1, 3, 6: .desktop
        case 2: .laptop
        case 4, 5, 7: .server
        case 8: .tablet
        default: nil
        }
    }
}

/// Text with ASCII letters in lower case.
func lowercased(_ text: String) -> String {
    String(
        decoding: text.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 },
        as: UTF8.self)
}
