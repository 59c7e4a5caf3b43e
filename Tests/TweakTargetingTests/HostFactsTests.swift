// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TestSupport
import TweakTargeting

@Suite struct `Facts about a host` {
    /// A folder that stands for the root, with these files.
    private func facts(_ files: [String: String]) throws -> HostFacts {
        let root = try TemporaryDirectory()
        for (path, content) in files { try root.write(path, content) }
        return HostFacts(root: root.path, application: "spring", applicationVersion: "2.1")
    }

    @Test func `The facts of a Debian host`() throws {
        let facts = try facts([
            "etc/os-release": "# Debian\nPRETTY_NAME=\"Debian GNU/Linux\"\nID=debian\nVERSION_ID=\"13\"\n",
            "proc/sys/kernel/osrelease": "6.12.48+deb13-amd64\n",
            "proc/sys/kernel/arch": "x86_64\n",
            "proc/sys/kernel/hostname": "web-17\n",
            "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
            "sys/class/dmi/id/product_name": "PowerEdge R650\n",
            "sys/class/dmi/id/chassis_type": "23\n",
        ])
        let expected: [Fact: String] = [
            .os: "debian", .osVersion: "13", .kernel: "6.12.48+deb13-amd64", .architecture: "x86_64",
            .host: "web-17", .machine: "0123456789abcdef0123456789abcdef", .device: "PowerEdge R650",
            .deviceFamily: "server", .application: "spring", .applicationVersion: "2.1",
        ]
        for fact in Fact.allCases { #expect(facts[fact] == expected[fact]) }
    }

    @Test func `Missing facts are unknown`() throws {
        let facts = try facts([:])
        #expect(Fact.allCases.filter { facts[$0] != nil } == [.application, .applicationVersion])
    }

    @Test func `Quoted and escaped values of os-release, in the other place`() throws {
        let facts = try facts(["usr/lib/os-release": "ID='open suse'\nVERSION_ID=\"1\\\"5\"\nBROKEN\n=\n"])
        #expect(facts[.os] == "open suse")
        #expect(facts[.osVersion] == "1\"5")
    }

    @Test(arguments: [
        (["sys/class/dmi/id/chassis_type": "3\n"], "desktop"),
        (["sys/class/dmi/id/chassis_type": "10\n"], "laptop"),
        (["sys/class/dmi/id/chassis_type": "30\n"], "tablet"),
        (["sys/class/dmi/id/chassis_type": "11\n"], "phone"),
        (["sys/class/dmi/id/chassis_type": "34\n"], "embedded"),
        (["sys/class/dmi/id/chassis_type": "1\n", "sys/firmware/acpi/pm_profile": "4\n"], "server"),
        (["sys/class/dmi/id/chassis_type": "1\n"], nil),
        (["sys/class/dmi/id/chassis_type": "abc\n"], nil),
        (["proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0"], "embedded"),
        (["proc/device-tree/chassis-type": "handset\0", "proc/device-tree/model": "PinePhone\0"], "phone"),
        (
            ["sys/class/dmi/id/chassis_type": "1\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"],
            "virtual-machine"
        ),
        (["proc/cpuinfo": "processor : 0\nflags\t\t: fpu vme hypervisor sse\n"], "virtual-machine"),
        (["sys/hypervisor/type": "xen\n"], "virtual-machine"),
        ([".dockerenv": "", "proc/cpuinfo": "flags : hypervisor\n"], "container"),
        (["run/systemd/container": "systemd-nspawn\n"], "container"),
        (["proc/1/environ": "HOME=/\0container=lxc\0"], "container"),
        (["etc/machine-info": "CHASSIS=watch\n", ".dockerenv": ""], "embedded"),
    ])
    func `The family of a device`(files: [String: String], family: String?) throws {
        #expect(try facts(files)[.deviceFamily] == family)
    }

    @Test func `The model of a device tree ends with a NUL`() throws {
        #expect(try facts(["proc/device-tree/model": "Raspberry Pi 4\0"])[.device] == "Raspberry Pi 4")
    }

    @Test func `A placeholder product name is ignored`() throws {
        #expect(try facts(["sys/class/dmi/id/product_name": "To Be Filled By O.E.M.\n"])[.device] == nil)
    }

    @Test func `This host has a kernel and an architecture`() {
        let facts = HostFacts(root: "/")
        #expect(facts[.kernel] != nil && facts[.architecture] != nil)
    }
}
