// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

/// Runs the commands of the article about remote values, as they stand there and in their order.
///
/// Stand-ins replace systemd, its journal and the upload to the web server, and type the password of a new etcd user.
@Suite struct `At three in the morning` {
    private static let switched = "Features/instant-search/enabled"
    private static let followed = ["Begin", "Sign the file", "Follow etcd", "At three in the morning"]
    private let host: AgentHost
    private let sections: [String: Substring]

    init() throws {
        host = try AgentHost()
        let article = try String(
            contentsOfFile: Locations.package + "/Sources/Library/Tweaks/Tweaks.docc/RemoteValues.md",
            encoding: .utf8)
        sections = Dictionary(
            uniqueKeysWithValues: article.split(separator: "\n### ").map { section in
                (String(section.prefix { $0 != "\n" }), section)
            })
        try compile()
        for (name, script) in Self.standIns {
            let file = try host.home.write("bin/\(name)", script)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        }
        // Root has its configuration there, which nobody else sees.
        _ = try run(Locations.program("cp"), ["-a", "/etc", host.home("etc")], home: host.home)
    }

    private static let standIns = [
        "systemctl": """
        #!/bin/sh
        case "$*" in
          "enable --now tweak-agent") kill -0 $(cat ~/agent.pid) ;;
          "reload tweak-agent") kill -HUP $(cat ~/agent.pid) ;;
          *) exit 1 ;;
        esac

        """,
        "etcdctl": """
        #!/bin/sh
        PATH=${PATH#*:}
        [ "$*" != "user add agent" ] || { echo secret | etcdctl --interactive=false "$@"; exit; }
        exec etcdctl "$@"

        """,
        "journalctl": "#!/bin/sh\n[ \"$*\" = '-u tweak-agent' ] && cat ~/journal\n",
        "rsync": """
        #!/bin/sh
        [ "$3" = www:/srv/features/search/ ] || exit 1
        for file in "$1" "$2"; do cp "$file" ~/www/new && mv ~/www/new ~/www/"$file"; done

        """,
    ]

    /// Builds a program `search` with the feature.
    private func compile() throws {
        let source = try host.home.write(
            "search.c",
            """
            #include <fbtweak.h>
            #include <unistd.h>
            int main(void) {
              while (FBTweakValue("Search", "Server", "Runs", true)) {
                (void)FBTweakValue("Features", "instant-search", "enabled", false);
                usleep(1000);
              }
            }
            """)
        try FileManager.default.createDirectory(
            atPath: host.home("bin"), withIntermediateDirectories: true)
        let library = try Installation.path("lib")
        try Compiler.gcc.compile(
            [source], to: host.home("bin/search"),
            ["-DDEBUG", "-Wl,--no-as-needed", "\(library)/libtweaks.so.0", "-Wl,-rpath,\(library)"],
            home: host.home)
    }

    /// A command of the article, and what it prints there.
    private struct Command {
        let text: String
        var output: [Substring] = []

        /// The revision of etcd that it makes.
        var revision: Int? {
            output.last?.firstMatch(of: /\(revision (\d+)\)$/).flatMap { Int($0.1) }
        }
    }

    /// The commands in a part of the article that begins with some words.
    private func commands(_ section: String, from start: String = "", to end: String = "\n### ") throws
        -> [Command]
    {
        let text = try #require(sections[section])
        let rest = start.isEmpty ? text : text[try #require(text.range(of: start)).upperBound...]
        let part = rest[..<(rest.range(of: end)?.lowerBound ?? rest.endIndex)]
        var (commands, isBlock): ([Command], Bool) = ([], false)
        for line in part.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            if line.hasPrefix("```") {
                isBlock = line == "```console"
            } else if isBlock, line.hasPrefix("$ ") || line.hasPrefix("# ") {
                commands.append(Command(text: String(line.dropFirst(2))))
            } else if isBlock {
                commands[commands.count - 1].output.append(line)
            }
        }
        try #require(!commands.isEmpty)
        return commands
    }

    private func shell(_ command: String, etcd: EtcdMembers? = nil) throws -> CommandResult {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let environment = [
            "PATH": "\(host.home("bin")):\(Locations.commands):\(path)", "ETCDCTL_API": "3",
            "ETCDCTL_ENDPOINTS": etcd?.endpoints[0] ?? "",
        ]
        guard geteuid() == 0 else {
            return try run(
                Locations.program("bash"), ["-c", command], home: host.home, environment: environment,
                in: host.home.path)
        }
        return try run(
            Locations.program("unshare"),
            ["--mount", "bash", "-c", "mount --bind '\(host.home("etc"))' /etc && \(command)"],
            home: host.home, environment: environment, in: host.home.path)
    }

    /// Runs what follows with a program `search`, and an agent that reads `agent.json`.
    private func running(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(
            atPath: host.home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        for path in ["etc/tweaks/agent.json", "config/tweaks/agent.json"] {
            try host.home.write(path, Data(contentsOf: URL(fileURLWithPath: host.home("agent.json"))))
        }
        let program = try start(host.home("bin/search"), home: host.home)
        let agent = try start(
            Locations.program("sh"),
            [
                "-c", "echo $$ >agent.pid; exec \"$@\" 2>journal", "sh", AgentHost.program, "--configuration",
                host.home("agent.json"), "--folder", host.home("state/tweaks"),
            ], home: host.home, in: host.home.path)
        defer {
            for process in [program, agent] {
                process.kill()
                _ = process.wait()
            }
        }
        #expect(waitUntil { FileStatus(host.home("journal")) != nil })
        try body()
    }

    /// Does what a command says, and expects that it can be done.
    private func follow(_ command: Command, etcd: EtcdMembers? = nil) throws {
        let result = try shell(command.text, etcd: etcd)
        #expect(result.succeeded, "\(command.text): \(result.output)\(result.error)")
        for line in command.output where command.revision != nil {
            #expect(result.output == line + "\n", "\(command.text): \(result.error)")
        }
    }

    /// Whether a look at the feature shows this.
    private func shows(_ isOn: Bool, from source: String) throws -> Bool {
        try shell("tweak explain search instant-search").output
            .hasPrefix("\(Self.switched): \(isOn), from \(source)\n")
    }

    @Test func `a file on a web server switches a feature off`() throws {
        let server = try WebServer(host.home)
        try host.home.write("features.json", features(["instant-search": true], version: 1))
        var (shown, key) = ("", "")
        for command in try commands("Sign the file") {
            let text = shown.isEmpty ? command.text : command.text.replacing(shown, with: key)
            let result = try shell(text)
            #expect(result.succeeded, "\(text): \(result.output)\(result.error)")
            if let line = command.output.first {
                (shown, key) = (String(line), String(result.output.prefix { $0 != "\n" }))
            }
        }
        try host.configure(server.url, "\"publicKey\": \"\(key)\"")
        try running {
            for command in try commands("Begin") { try follow(command) }
            #expect(try waitUntil { try shows(true, from: "remote") })
            try host.home.write("features.json", features(["instant-search": false], version: 2))
            let commands = try commands("At three in the morning", to: "\nWith etcd")
            #expect(commands.count == 8)
            for command in commands {
                try follow(command)
                switch command.text {
                case "systemctl reload tweak-agent":
                    #expect(try waitUntil { try shows(false, from: "remote") })
                case let text where text.hasPrefix("tweak explain"):
                    #expect(try shell(text).output.contains("remote: the value: the file has it off"))
                case let text where text.hasPrefix("tweak set"): #expect(try shows(false, from: "override"))
                default: break
                }
            }
        }
    }

    @Test func `a value in etcd switches a feature off`() throws {
        let etcd = try EtcdMembers()
        // Reports would change the revisions.
        try host.follow(etcd.endpoints, "\"reports\": false")
        try running {
            let beginning = try commands("Follow etcd")
            let night = try commands("At three in the morning", from: "\nWith etcd")
            #expect(beginning.count == 10 && night.count == 11)
            for command in beginning + night {
                // Others have written there meanwhile.
                while let revision = command.revision, try self.revision(etcd) < revision - 1 {
                    #expect(etcd.put([(Array("other".utf8), [])]))
                }
                try follow(command, etcd: etcd)
                guard
                    command.text.hasPrefix("tweak fleet set")
                        || command.text.hasPrefix("tweak fleet rollback"),
                    !command.text.contains("percentage")
                else { continue }
                let isOn = command.output.last?.contains("→ true ") == true
                #expect(try waitUntil { try shows(isOn, from: "fleet") }, "\(command.text)")
            }
            let value = try shell("tweak fleet get search instant-search --format json")
            #expect(value.output.contains("\"percentage\" : 1"), "\(value.output)\(value.error)")
        }
    }

    @Test func `no command of the article is left out`() {
        for (name, text) in sections where !Self.followed.contains(name) {
            #expect(!text.contains("```console") && !text.contains("```sh"), "\(name)")
        }
    }

    private func revision(_ etcd: EtcdMembers) throws -> Int {
        let json = try etcd.ctl(["get", "nothing", "--write-out", "json"]).output
        return try #require(json.firstMatch(of: /"revision":(\d+)/).flatMap { Int($0.1) })
    }
}
#endif
