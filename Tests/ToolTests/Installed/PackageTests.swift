// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The packages that `tools/development/package` builds, and a copy of this machine in which they can be installed.
///
/// The copy is a file system that lies over that of the machine and is gone with the process, in which `dpkg` is root.
struct Packages {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// The folder that they are in, and what was said.
    static let built = Result { try build() }

    /// Builds them as for a release, with what `tools/install` has built already.
    private static func build() throws -> (folder: TemporaryDirectory, output: String) {
        let folder = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/tools/development/package")
        process.arguments = Installation.everything + ["--sysroot", Installation.sysroot, folder.path]
        // Compressing them well takes a minute.
        process.environment = ProcessInfo.processInfo.environment.merging(["DPKG_DEB_COMPRESSOR_LEVEL": "0"])
        {
            $1
        }
        let result = try RunningCommand(process).wait()
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
        return (folder, result.output)
    }

    /// The names of those that are not the same bytes when they are built again, from another folder.
    static var differences: [String] {
        get throws {
            let again = try build().folder
            return try paths.map { URL(fileURLWithPath: $0).lastPathComponent }.filter {
                try !FileManager.default.contentsEqual(atPath: built.get().folder($0), andPath: again($0))
            }
        }
    }

    static var paths: [String] {
        get throws {
            let folder = try built.get().folder
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                .filter { $0.hasSuffix(".deb") }.map(folder.callAsFunction)
        }
    }

    /// Runs a script in the copy, in a folder with the examples, after the packages were installed there.
    func run(_ script: String, beforeInstalling: String = "") throws -> CommandResult {
        let folder = try Self.built.get().folder
        try FileManager.default.copyItem(
            atPath: Locations.package + "/tools/development/packaging/examples", toPath: home("examples"))
        let script = try home.write(
            "script",
            """
            set -euo pipefail
            export HOME=\(home.path) PATH=/usr/sbin:/usr/bin:/sbin:/bin
            cd $HOME/examples
            \(beforeInstalling)
            dpkg --path-include='/usr/share/man/*' --path-include='/usr/share/doc/*' \\
              --install \(folder.path)/*.deb >../installed 2>&1 || { cat ../installed; exit 1; }
            \(script)
            """)
        let over = home("over")
        try FileManager.default.createDirectory(atPath: over, withIntermediateDirectories: true)
        // A user is root where there is no more than what the user may do anyway.
        let rights = getuid() == 0 ? [] : ["--map-root-user"]
        return try TestSupport.run(
            Locations.program("unshare"),
            rights + [
                "--mount", "--", "/bin/bash", "-euc",
                """
                mount -t tmpfs tmpfs \(over)
                mkdir \(over)/changed \(over)/work \(over)/root
                mount -t overlay overlay \(over)/root \\
                  -o lowerdir=/,upperdir=\(over)/changed,workdir=\(over)/work
                for folder in dev proc; do mount --rbind /$folder \(over)/root/$folder; done
                # What is mounted on these is not below the copy.
                if [ ! -e \(over)/root\(script) ]; then mount --rbind /tmp \(over)/root/tmp; fi
                exec chroot \(over)/root /bin/bash \(script)
                """,
            ], home: home)
    }
}

@Suite struct `The Debian packages` {
    private let packages: Packages

    init() throws { packages = try Packages() }

    @Test func `All requested packages are built, without lintian errors or warnings`() throws {
        let names = try Packages.paths.compactMap {
            $0.split(separator: "/").last?.split(separator: "_").first
        }
        #expect(
            names == [
                "libtweaks-dev", "libtweaks0", "python3-fbtweak", "tweaks-adopt", "tweaks-agent",
                "tweaks-network", "tweaks-ui", "tweaks",
            ])
        #expect(try Packages.built.get().output.contains("lintian reports no errors and no warnings"))
    }

    @Test func `They need glibc 2.31 at most`() throws {
        let withoutPrograms = ["libtweaks-dev_", "python3", "tweaks-agent_", "tweaks-ui_"]
        for path in try Packages.paths where !withoutPrograms.contains(where: path.contains) {
            let depends = try TestSupport.run(
                Locations.program("dpkg-deb"), ["--field", path, "Depends"], home: TemporaryDirectory()
            ).output
            let needed = try #require(depends.firstMatch(of: /libc6 \(>= ([0-9.]+)\)/)?.1, "\(path)")
            #expect(needed.compare("2.31", options: .numeric) != .orderedDescending, "\(path): \(depends)")
        }
    }

    @Test(.enabled(if: isLong)) func `They are the same bytes each time`() throws {
        #expect(try Packages.differences == [])
    }

    @Test func `A C program is built with pkg-config, found and tuned`() throws {
        let result = try packages.run(
            """
            make -C make CC=gcc >&2
            tweak-dump make/frames | grep -c Frames
            tweak set make/frames Frames/Run/Frames 3 Frames/Ball/Speed 4 Frames/Ball/Glyph '#' >&2
            make/frames
            ldd make/frames | grep -o '/lib/.*/libtweaks.so.0'
            """)
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(result.succeeded && lines.count == 5, "\(result.output)\(result.error)")
        #expect(Int(lines[0]) ?? 0 > 0)
        #expect(lines[1...3] == ["#", "    #", "        #"])
        #expect(lines[4].hasSuffix("-linux-gnu/libtweaks.so.0"))
    }

    @Test func `A C program and a C++ one are built with CMake`() throws {
        let result = try packages.run(
            """
            sed -e 's/frames C/frames C CXX/' -e 's|../frames.c|../frames.cpp|' cmake/CMakeLists.txt >../CMakeLists.txt
            mkdir cpp && mv ../CMakeLists.txt cpp && cp frames.c frames.cpp
            for language in cmake cpp; do
              cmake -S $language -B built/$language -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=g++ >&2
              cmake --build built/$language >&2
              built/$language/frames | head -n 1
            done
            """)
        #expect(result.succeeded && result.output == "o\no\n", "\(result.output)\(result.error)")
    }

    @Test(arguments: ["make", "cmake", "meson"])
    func `Their own tests pass`(name: String) throws {
        let tests = Locations.package + "/tools/development/packaging/debian/tests"
        let result = try packages.run("cd ..; AUTOPKGTEST_TMP=$(mktemp -d) sh \(tests)/\(name)")
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }

    @Test func `A program built with only the header is tuned with the library preloaded`() throws {
        let result = try packages.run(
            """
            gcc -DDEBUG frames.c -o frames
            tweak set frames Frames/Run/Frames 1 Frames/Ball/Glyph '#' >&2
            ./frames | head -n 1
            LD_PRELOAD=libtweaks.so.0 ./frames
            """)
        #expect(result.succeeded && result.output == "o\n#\n", "\(result.output)\(result.error)")
    }

    @Test func `Their man pages, completions and licences are in Debian's places`() throws {
        let result = try packages.run(
            """
            cd /usr/share
            for page in man1/tweak man1/tweak-dump man1/tweak-generate man1/tweak-undo man3/fbtweak man3/FBTweakValue man3/fbtweak_find
            do
              mandoc -T utf8 man/$page.${page:3:1}.gz >$HOME/page
              grep -q 'Tweaks 1' $HOME/page && echo $page
            done
            bash -c '. /usr/share/bash-completion/completions/tweak; complete -p tweak' >&2
            ls zsh/vendor-completions/_tweak fish/vendor_completions.d/tweak.fish
            for package in libtweaks0 libtweaks-dev tweaks; do grep -l libyaml doc/$package/copyright; done
            """)
        #expect(result.succeeded, "\(result.output)\(result.error)")
        #expect(result.output.split(separator: "\n").count == 7 + 2 + 3, "\(result.output)")
    }

    @Test func `The page is served from the package that has it`() throws {
        let result = try packages.run(
            """
            mandoc -T utf8 /usr/share/man/man1/tweak-ui.1.gz >&2
            XDG_RUNTIME_DIR=$HOME timeout --preserve-status --signal INT 3 tweak ui || [ $? -eq 130 ]
            """)
        #expect(
            result.succeeded && result.output.hasPrefix("http://127.0.0.1:"),
            "\(result.output)\(result.error)")
    }

    @Test func `The Python module is found, and removed without remains`() throws {
        let result = try packages.run(
            """
            make -C make CC=gcc >&2
            python3 - <<'END'
            import fbtweak, importlib.metadata
            frames = fbtweak.connect("make/frames")
            frames.set({"Glyph": "#", "Frames/Run/Frames": 1})
            entry, = importlib.metadata.distribution("fbtweak").entry_points
            print(fbtweak.__file__, entry.group, frames["Glyph"])
            END
            make/frames
            dpkg --purge python3-fbtweak >&2
            find /usr /var/lib -name '*fbtweak*' -path '*python*'
            python3 -c 'import fbtweak' 2>&1 | tail -n 1
            """)
        #expect(
            result.output == """
                /usr/lib/python3/dist-packages/fbtweak/__init__.py pytest11 #
                #
                ModuleNotFoundError: No module named 'fbtweak'

                """, "\(result.error)")
    }

    @Test func `The agent is installed with its units, and purged with its values`() throws {
        let result = try packages.run(
            """
            mandoc -T utf8 /usr/share/man/man1/tweak-agent.1.gz >&2
            cat >agent.json <<'END'
            { "applications": [ { "name": "frames", "url": "http://127.0.0.1:1/", "plainHTTP": true, "timeout": 1 } ] }
            END
            tweak-agent --configuration agent.json --once || echo $?
            grep -h ExecStart= /lib/systemd/system/tweak-agent.service /usr/lib/systemd/user/tweak-agent.service
            mkdir -p /var/lib/tweaks/frames
            dpkg --purge tweaks-agent >&2
            ls /var/lib/tweaks /usr/bin/tweak-agent 2>/dev/null || echo gone
            """)
        let start = "ExecStart=/usr/bin/tweak-agent --configuration"
        let expected = """
            75
            \(start) /etc/tweaks/agent.json
            \(start) %E/tweaks/agent.json --folder %S/tweaks
            gone

            """
        #expect(result.succeeded && result.output == expected, "\(result.output)\(result.error)")
    }

    @Test func `Removed packages leave nothing in the system`() throws {
        let result = try packages.run(
            """
            find /usr -xdev | sort >../between
            dpkg --purge $(dpkg-query --show --showformat '${Package} ' 'tweaks*' 'libtweaks*' python3-fbtweak) >&2
            find /usr -xdev | sort >../after
            cmp ../before ../after
            comm -13 ../before ../between | wc -l
            ldconfig -p | grep tweaks || true
            """, beforeInstalling: "find /usr -xdev | sort >../before")
        let lines = result.output.split(separator: "\n")
        #expect(result.succeeded && lines.count == 1, "\(result.output)\(result.error)")
        #expect(Int(lines.first ?? "") ?? 0 > 30)
    }
}
