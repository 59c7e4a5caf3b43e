// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakSystem

/// The kernel rule that denies this process access to the memory of another one. Source: ptrace(2), "Ptrace access mode
/// checking", and Yama in the kernel's documentation.
package enum AccessRule: Hashable, Sendable {
    /// The process runs, or has run, as another user.
    case otherUser(String)
    /// The process has capabilities that this one lacks.
    case capabilities
    /// The process is not dumpable.
    case notDumpable
    /// The Yama setting.
    case yama(Int)
    /// Another rule, such as that of a security module.
    case unknown
}

extension AccessRule {
    /// Finds the rule that denies access to another process, in the kernel's order of checks.
    package init(pid: Int32) {
        let status = readText("/proc/\(pid)/status") ?? ""
        let own = readText("/proc/self/status") ?? ""
        let scope = readText("/proc/sys/kernel/yama/ptrace_scope").flatMap { Int($0.prefix { $0.isNumber }) }
        // The directory always belongs to the user.
        let file = stat(path: "/proc/\(pid)/maps")
        self.init(status: status, ownStatus: own, owner: file?.st_uid, yamaScope: scope)
    }

    /// - Parameters:
    ///   - status: `/proc/PID/status` of the process.
    ///   - ownStatus: `/proc/self/status`.
    ///   - owner: The owner of `/proc/PID/maps`: root if the process is not dumpable.
    ///   - yamaScope: The content of `/proc/sys/kernel/yama/ptrace_scope`; `nil` without Yama.
    package init(status: String, ownStatus: String, owner: UInt32?, yamaScope: Int?) {
        let users = Self.field("Uid:", of: status).prefix(3).compactMap { uid_t($0) }
        let user = Self.field("Uid:", of: ownStatus).last.flatMap { uid_t($0) } ?? geteuid()
        if user != 0, let other = users.first(where: { $0 != user }) {
            self = .otherUser(Self.name(of: other))
        } else if user != 0, owner == 0, !users.contains(0) {
            self = .notDumpable
        } else if let theirs = Self.capabilities(of: status, "CapPrm:"),
            let ours = Self.capabilities(of: ownStatus, "CapEff:"), theirs & ~ours != 0
        {
            self = .capabilities
        } else if let yamaScope, yamaScope > 0 {
            self = .yama(yamaScope)
        } else {
            self = .unknown
        }
    }

    private static func field(_ name: String, of status: String) -> [Substring] {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.dropFirst(name.count).split { $0 == "\t" || $0 == " " } ?? []
    }

    private static func capabilities(of status: String, _ name: String) -> UInt64? {
        field(name, of: status).first.flatMap { UInt64($0, radix: 16) }
    }

    private static func name(of user: UInt32) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
    }
}

extension AccessRule: CustomStringConvertible {
    /// The rule and its workarounds.
    package var description: String {
        let memory = "no permission to read its memory"
        let library = "or link the program with the Tweaks library, whose socket needs no such permission"
        return switch self {
        case .otherUser(let user):
            "\(memory): it is a process of \(user); run this as \(user) or as root, \(library)"
        case .capabilities:
            "\(memory): it has capabilities that this command lacks; run this as root, \(library)"
        case .notDumpable:
            "\(memory): it is not dumpable, because it called prctl(PR_SET_DUMPABLE, 0), changed its user, "
                + "or has a file that is executable but not readable; run this as root, \(library)"
        case .yama(1):
            "\(memory): kernel.yama.ptrace_scope is 1, which allows this only to ancestors of a process; "
                + "run this as root, set it to 0 with sysctl, let the program call prctl(PR_SET_PTRACER, "
                + "PR_SET_PTRACER_ANY), \(library)"
        case .yama(2):
            "\(memory): kernel.yama.ptrace_scope is 2, which allows this only to root; run this as root, "
                + "set it to 0 with sysctl, \(library)"
        case .yama(let scope):
            "\(memory): kernel.yama.ptrace_scope is \(scope), which forbids this until a reboot; configure "
                + "a lower value and reboot, \(library)"
        case .unknown:
            "\(memory): the kernel forbids this, perhaps because of a security module or container "
                + "settings; run this as root outside the container, \(library)"
        }
    }
}
