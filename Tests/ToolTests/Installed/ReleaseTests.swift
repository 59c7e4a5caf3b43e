// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A checkout of nothing but `tools/release` and what it reads, in which what it runs does nothing.
private struct Checkout {
    let home: TemporaryDirectory

    init(
        version: String = "1.2.0-beta.1",
        changelog: String = "## [1.2.0-beta.1] - 2026-11-24\n\nAll is new.\n",
        readme: String = #".package(url: "…", from: "1.2.0-beta.1")"#,
        cross: String = "echo tar >${!#}/tweaks-aarch64.tar.gz"
    ) throws {
        home = try TemporaryDirectory()
        try home.write("tools/development/packaging/VERSION", version + "\n")
        try home.write("CHANGELOG.md", "# Changelog\n\n" + changelog + "\n## [1.1.0] - 2026-10-01\n\nOld.\n")
        try home.write("README.md", readme)
        try home.write("Tests/Programs/released/1.2.0-beta.1/expected.json", "{}")
        try home.write("Tests/Programs/released/1.2.0-beta.1/api/Tweaks.json.xz", "")
        for (path, command) in [
            ("tools/test", "echo tested"), ("tools/development/package", "echo deb >${!#}/tweaks.deb"),
            ("tools/development/tarball", "echo tar >${!#}/tweaks.tar.gz"),
            ("tools/development/sysroot", "mkdir -p $1"), ("tools/development/cross", cross),
            ("Tests/Programs/upgrade/run", "echo upgraded $*"),
        ] {
            #expect(chmod(try home.write(path, "#!/bin/bash\n\(command)\n"), 0o755) == 0)
        }
        try FileManager.default.copyItem(
            atPath: Locations.package + "/tools/release", toPath: home("tools/release"))
        try git("init", "--quiet")
        try commit("All")
    }

    func git(_ arguments: String...) throws {
        let result = try run(Locations.program("git"), ["-C", home.path] + arguments, home: home)
        try #require(result.succeeded, "\(result.error)")
    }

    func commit(_ message: String) throws {
        try git("add", ".")
        try git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "-m", message)
    }

    func release(_ arguments: String...) throws -> CommandResult {
        try run(home("tools/release"), arguments, home: home)
    }

    func expectRefusal(_ reason: String) throws {
        let result = try release()
        #expect(result.status == EX_DATAERR && result.output.isEmpty)
        #expect(result.error.contains(reason), "\(result.error)")
    }
}

@Suite struct `The command tools/release` {
    @Test(arguments: ["1.2", "v1.2.0", "01.2.0", "1.2.0-", "1.2.0-beta..1", "1.2.0-01", ""])
    func `refuses a version that is not semantic`(version: String) throws {
        try Checkout(version: version).expectRefusal("VERSION: \"\(version)\" is not a semantic version")
    }

    @Test(arguments: [
        "", "## [1.2.0-beta.1]\n\nText\n", "## [1.2.0] - 2026-11-24\n\nText\n",
        "## [1.2.0-beta.1] - 2026-11-24\n",
    ])
    func `refuses a version without an entry in the changelog`(changelog: String) throws {
        try Checkout(changelog: changelog).expectRefusal(
            "CHANGELOG.md: the entry \"## [1.2.0-beta.1] - ")
    }

    @Test func `refuses a version that the README does not name`() throws {
        try Checkout(readme: #"from: "1.1.0""#).expectRefusal(
            "README.md: no dependency has from: \"1.2.0-beta.1\"")
    }

    @Test func `refuses a version whose programs are not kept`() throws {
        let checkout = try Checkout()
        try checkout.git("rm", "-r", "--quiet", "Tests")
        try checkout.expectRefusal("Tests/Programs/released: 1.2.0-beta.1 is missing")
    }

    @Test func `refuses a version whose Swift API is not kept`() throws {
        let checkout = try Checkout()
        try checkout.git("rm", "-r", "--quiet", "Tests/Programs/released/1.2.0-beta.1/api")
        try checkout.expectRefusal("Tests/Programs/released/1.2.0-beta.1: the Swift API is missing")
    }

    @Test func `refuses changes that are not committed`() throws {
        let checkout = try Checkout()
        try checkout.home.write("new.c", "")
        try checkout.expectRefusal("there are uncommitted changes")
    }

    @Test func `refuses a version that has a tag`() throws {
        let checkout = try Checkout()
        try checkout.git("tag", "1.2.0-beta.1")
        try checkout.expectRefusal("the tag 1.2.0-beta.1 already exists")
    }

    @Test func `tests, makes packages, tarball, sums and notes, and prints how to publish them`() throws {
        let checkout = try Checkout()
        let folder = try TemporaryDirectory()
        let result = try checkout.release(folder.path)
        try #require(result.succeeded, "\(result.error)")
        #expect(result.output.hasPrefix("tested\n"))
        #expect(result.output.contains("  git tag --annotate --message 'Tweaks 1.2.0-beta.1' 1.2.0-beta.1\n"))
        #expect(result.output.contains(" --prerelease "))
        #expect(try String(contentsOfFile: folder("notes.md"), encoding: .utf8) == "All is new.\n")
        let sums = try run(
            Locations.program("sha256sum"), ["--check", "--strict", "SHA256SUMS"], home: checkout.home,
            in: folder.path)
        #expect(sums.output == "tweaks.deb: OK\ntweaks-aarch64.tar.gz: OK\ntweaks.tar.gz: OK\n")

        #expect(try checkout.release(folder.path).status == EX_CANTCREAT, "the folder is not empty")
        let other = try checkout.release("--skip-tests", folder("other"))
        #expect(other.succeeded && !other.output.contains("tested"))
    }

    @Test func `says how to leave out aarch64 where it cannot be built`() throws {
        let checkout = try Checkout(cross: "exit 69")
        let result = try checkout.release("--skip-tests")
        #expect(result.status == EX_UNAVAILABLE && result.error.contains("--without-aarch64"))
        let folder = try TemporaryDirectory()
        try #require(checkout.release("--skip-tests", "--without-aarch64", folder.path).succeeded)
        #expect(!FileManager.default.fileExists(atPath: folder("tweaks-aarch64.tar.gz")))
        #expect(FileManager.default.fileExists(atPath: folder("tweaks.tar.gz")))
    }

    @Test func `tries the upgrade from the packages of an earlier release`() throws {
        let checkout = try Checkout()
        let (old, new) = (try TemporaryDirectory(), try TemporaryDirectory())
        let arguments = ["--skip-tests", "--from", old.path, new("made")]
        func release() throws -> CommandResult {
            try run(checkout.home("tools/release"), arguments, home: checkout.home)
        }
        let without = try release()
        #expect(without.status == EX_DATAERR && without.error.contains("no packages of a release found"))
        try old.write("tweaks_1.1.0_amd64.deb", "")
        let result = try release()
        #expect(result.succeeded, "\(result.error)")
        let upgraded = "upgraded --from \(old.path) --to \(new("made"))\n"
        #expect(result.output.contains(upgraded), "\(result.output)")
        try checkout.home.write("Tests/Programs/upgrade/run", "#!/bin/bash\nexit 1\n")
        try checkout.commit("Fail")
        try FileManager.default.removeItem(atPath: new("made"))
        #expect(try release().status == EX_SOFTWARE)
    }

    @Test func `prints help, and the usage after a wrong command line`() throws {
        let checkout = try Checkout()
        #expect(try checkout.release("--help").output.hasPrefix("usage: tools/release"))
        for arguments in [["--bogus"], ["a", "b"], ["--from"]] {
            let result = try run(checkout.home("tools/release"), arguments, home: checkout.home)
            #expect(result.status == EX_USAGE && result.error.contains("usage: tools/release"))
        }
    }
}

@Suite struct `The command tools/development/sysroot` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func sysroot(_ arguments: String...) throws -> CommandResult {
        try run(Locations.package + "/tools/development/sysroot", arguments, home: home)
    }

    @Test func `does nothing if the folder is complete`() throws {
        let result = try sysroot("--mirror", "http://127.0.0.1:1", Installation.sysroot)
        #expect(result.succeeded && result.output.isEmpty, "\(result.error)")
    }

    @Test func `refuses a folder with other files`() throws {
        try home.write("folder/file", "")
        let result = try sysroot(home("folder"))
        #expect(result.status == EX_CANTCREAT && result.output.isEmpty)
        #expect(FileManager.default.fileExists(atPath: home("folder/file")))
    }

    @Test func `leaves nothing behind if nothing can be downloaded`() throws {
        try home.write("other", "")
        let result = try sysroot("--mirror=http://127.0.0.1:1", home("folder"))
        #expect(result.status == EX_UNAVAILABLE)
        #expect(result.error.contains("cannot be downloaded from http://127.0.0.1:1"), "\(result.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == ["other"])
    }

    @Test(arguments: [["--bogus"], ["--mirror"], ["--architecture"], ["a", "b"]])
    func `prints the usage after a wrong command line`(arguments: [String]) throws {
        let result = try run(
            Locations.package + "/tools/development/sysroot", arguments, home: home, in: home.path)
        #expect(result.status == EX_USAGE && result.error.contains("usage: tools/development/sysroot"))
    }
}

@Suite struct `The command tools/development/cross` {
    @Test(arguments: [["--bogus"], ["--mirror"], ["--system"], ["a", "b"]])
    func `prints the usage after a wrong command line`(arguments: [String]) throws {
        let home = try TemporaryDirectory()
        let result = try run(
            Locations.package + "/tools/development/cross", arguments, home: home, in: home.path)
        #expect(result.status == EX_USAGE && result.error.contains("usage: tools/development/cross"))
    }
}

@Suite struct `The command tools/development/glibc-needed` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func needed(_ arguments: String...) throws -> CommandResult {
        try run(Locations.package + "/tools/development/glibc-needed", arguments, home: home)
    }

    @Test func `names the symbols that an older glibc does not have`() throws {
        try home.write("program.c", "#include <time.h>\nint main(void) { return timespec_get(0, 0); }\n")
        let compiled = try run(
            Locations.program("gcc"), ["-o", home("program"), home("program.c")], home: home)
        try #require(compiled.succeeded, "\(compiled.error)")
        let result = try needed("2.15", home("program"))
        #expect(result.status == EXIT_FAILURE)
        #expect(result.output.contains("\(home("program")): GLIBC_2.16: timespec_get\n"), "\(result.output)")
        #expect(try needed("2.9", home("program")).output.contains(" timespec_get"), "2.9 is before 2.16")
        let newer = try needed("999", home("program"))
        #expect(newer.succeeded && newer.output.isEmpty)
    }

    @Test func `does not pass a file that is not linked with glibc`() throws {
        try home.write("text", "text")
        #expect(try needed("2.31", home("text")).status == EX_NOINPUT)
        #expect(try needed("2.31", home("missing")).status == EX_NOINPUT)
        #expect(try needed("2.31").status == EX_USAGE)
    }
}

/// The tarballs of `tools/development/tarball`, made once, as for a release.
private enum Tarball {
    static let made = Result { try make() }

    static func make() throws -> (folder: TemporaryDirectory, path: String, ofStaticCommands: String) {
        let folder = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/tools/development/tarball")
        process.arguments = ["--sysroot", Installation.sysroot, folder.path]
        let result = try RunningCommand(process).wait()
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        try #require(names.count == 2 && names[0].hasSuffix("-static.tar.gz"))
        return (folder, folder(names[1]), folder(names[0]))
    }

    /// For scripts: starts a program, and waits until it has its tweaks.
    static let functions = """
        eventually() { for _ in {1..600}; do "$@" && return; sleep 0.1; done; return 1; }
        is_listed() { tweak ps ${all-} 2>/dev/null | grep -qw $!; }
        start() {
          "$@" >log &
          trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
          eventually is_listed
        }

        """
    /// Follows the README: builds its first program in the working directory, and changes that while it runs.
    static let tutorial = """
        gcc -DDEBUG spring.c -o spring $(pkg-config --cflags --libs tweaks)
        tweak-dump spring | grep -o 'Stiffness *double'
        start ./spring
        tweak set $! stiffness 600
        eventually grep -x --max-count 1 600 log

        """
    static let expected = "Stiffness  double\nSpring/Physics/Stiffness: 120.0 → 600.0\n600\n"

    /// Starts that program again, and uses the other commands, the page, and the agent with a web server.
    static let tour = """
        kill $!
        start ./spring
        head -n 1 log
        tweak set $! stiffness 700 --for 1s
        eventually grep -x --max-count 1 700 log
        has_gone_back() { tail -n 1 log | grep -x 600; }
        eventually has_gone_back
        tweak log $! | grep -o 'end of a lease'
        tweak ui >page &
        eventually grep -q token page
        python3 - <<'END'
        import json, re, urllib.request
        port, token = re.search(r":([0-9]+)/#token=([^ \\n]+)", open("page").read()).groups()
        headers = {"Content-Type": "application/json"}
        def ask(request, **body):
            address = f"http://127.0.0.1:{port}/api/{request}"
            return json.load(urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)))
        headers["Authorization"] = "Bearer " + ask("session", token=token)["session"]
        program = ask("open", name="spring")["program"]["id"]
        ask("set", program=program, values=[{"tweak": "Spring/Physics/Stiffness", "value": 650}])
        END
        eventually grep -x --max-count 1 650 log
        mkdir -p served
        echo '{ "version": 1, "features": [ { "key": "fast", "enabled": true } ] }' >served/features.json
        python3 -u -m http.server 0 --bind 127.0.0.1 --directory served >server 2>&1 &
        eventually grep -q ' port [0-9]' server
        port=$(sed -n 's/.* port \\([0-9]*\\) .*/\\1/p' server)
        echo '{ "applications": [ { "name": "feature", "url": "http://127.0.0.1:'$port'/", "plainHTTP": true } ] }' >agent.json
        tweak-agent --configuration agent.json --once 2>/dev/null
        cat >feature.c <<'END'
        #include <fbtweak.h>
        #include <stdio.h>
        int main(void) { printf("fast: %d\\n", FBTweakValue("Features", "fast", "enabled", false)); }
        END
        gcc -DDEBUG feature.c -o feature $(pkg-config --cflags --libs tweaks)
        ./feature

        """
    static let toured = """
        600
        Spring/Physics/Stiffness: 600.0 → 700.0, for 1s
        700
        600
        end of a lease
        650
        fast: 1

        """

    /// Uses what only packages have: variables as tweaks, also without the library in the program, and Python.
    static let tourOfPackages = """
        python3 -c 'import fbtweak; spring = fbtweak.connect("spring"); spring["stiffness"] = 500; print(spring["stiffness"])'
        eventually grep -x --max-count 1 500 log
        kill $(jobs -p)
        echo 'volatile int turns = 1;' >>spring.c
        for package in tweaks fbtweak; do
          gcc -g -DDEBUG spring.c -o spring $(pkg-config --cflags --libs $package)
          start ./spring
          tweak adopt $! turns
          tweak set $! turns 2 stiffness 300 2>/dev/null
          kill $!
          all=--all
        done

        """
    static let touredPackages = """
        500.0
        500
        Variables/spring.c/turns: turns, volatile int
        Variables/spring.c/turns: 1 → 2
        Spring/Physics/Stiffness: 500.0 → 300.0
        Variables/spring.c/turns: turns, volatile int
        Variables/spring.c/turns: 1 → 2
        Spring/Physics/Stiffness: 120.0 → 300.0

        """

    /// Prints what is left of an installation, but for files of users and sockets of killed programs.
    static let remains = """
        find / -xdev \\( -path /root -o -path /proc -o -path /tmp -o -path /var/log \\) -prune -o -name '*tweak*' -print

        """

    /// Unpacks it in the working directory, and does what its README says.
    static let unpacking = """
        tar --extract --file tweaks.tar.gz
        cd tweaks-*/
        export PATH="$PWD/bin:$PATH" PKG_CONFIG_PATH="$PWD/lib/pkgconfig" LD_LIBRARY_PATH="$PWD/lib"
        cd ..

        """

    /// Puts the tarball and the source of the program into a folder.
    static func prepare(_ folder: TemporaryDirectory, below path: String = "") throws {
        let readme = try #require(Article.all.get().first { $0.description == "README.md" })
        let source = try #require(readme.blocks.first { $0.text.contains("int main(void)") })
        try folder.write(path + "spring.c", source.text)
        try #require(mkdir(folder("runtime"), 0o700) == 0)
        try FileManager.default.copyItem(atPath: made.get().path, toPath: folder(path + "tweaks.tar.gz"))
    }
}

@Suite struct `The tarball` {
    @Test func `is used where it is unpacked`() throws {
        let home = try TemporaryDirectory()
        try Tarball.prepare(home)
        let result = try run(
            "/bin/bash", ["-euc", Tarball.unpacking + Tarball.functions + Tarball.tutorial], home: home,
            in: home.path)
        #expect(result.succeeded && result.output == Tarball.expected, "\(result.output)\(result.error)")
    }

    @Test func `is found by CMake where it is unpacked`() throws {
        let home = try TemporaryDirectory()
        try Tarball.prepare(home)
        let examples = Locations.package + "/tools/development/packaging/examples"
        let script = """
            CMAKE_PREFIX_PATH=$(echo $PWD/tweaks-*/) cmake -S \(examples)/cmake -B built -DCMAKE_BUILD_TYPE=Debug >&2
            cmake --build built >&2
            built/frames | head -n 1
            """
        let result = try run("/bin/bash", ["-euc", Tarball.unpacking + script], home: home, in: home.path)
        #expect(result.succeeded && result.output == "o\n", "\(result.output)\(result.error)")
    }

    /// Otherwise their bytes would depend on where they are built.
    @Test(
        arguments: [
            "lib/libtweaks.so", "bin/tweak", "bin/tweak-dump", "libexec/tweaks/tweak-adopt",
            "libexec/tweaks/tweaks-network",
        ])
    func `has no path of the checkout`(name: String) throws {
        let path = try Installation.path(name)
        let content = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        for folder in ["/Sources/", "/.build/", "/tools/"] {
            #expect(content.range(of: Data((Locations.package + folder).utf8)) == nil, "\(folder)")
        }
    }

    @Test(.enabled(if: isLong)) func `has the same bytes each time`() throws {
        let (first, second) = try (Tarball.made.get(), Tarball.make())
        for (path, again) in [(first.path, second.path), (first.ofStaticCommands, second.ofStaticCommands)] {
            #expect(FileManager.default.contentsEqual(atPath: path, andPath: again))
        }
    }

    @Test func `needs glibc 2.31 at most`() throws {
        let (home, tarball) = try (TemporaryDirectory(), Tarball.made.get().path)
        let script = """
            tar --extract --file \(tarball)
            \(Locations.package)/tools/development/glibc-needed 2.31 tweaks-*/{bin/*,libexec/tweaks/*,lib/libtweaks.so}
            """
        let result = try run("/bin/bash", ["-euo", "pipefail", "-c", script], home: home, in: home.path)
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }

    /// With musl alone, as in Alpine, and without a shell.
    @Test func `of static commands is used in a root without libraries`() throws {
        let (home, tarball) = try (TemporaryDirectory(), Tarball.made.get().ofStaticCommands)
        try Tarball.prepare(home, below: "root/")
        let script = """
            tar --extract --strip-components 1 --directory root --file \(tarball)
            musl-gcc -DDEBUG -I \(Locations.include) root/spring.c -o root/spring
            mkdir root/{lib,proc}
            cp -L /lib/ld-musl-*.so.1 root/lib
            mount -t proc proc root/proc
            export HOME=/ PATH=$PATH:/usr/sbin
            tweak() { chroot root /bin/tweak "$@"; }
            all=--all
            \(Tarball.functions)
            chroot root /bin/tweak-dump /spring | grep -o 'Stiffness *double'
            start chroot root /spring
            tweak set $! stiffness 600
            eventually grep -x --max-count 1 600 log
            """
        let result = try run(
            Locations.program("unshare"),
            ["--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "/bin/bash", "-euc", script],
            home: home, in: home.path)
        #expect(result.succeeded && result.output == Tarball.expected, "\(result.output)\(result.error)")
    }

    /// A system of packages of the minimum, in which there is no Swift. Debian 11 has GCC 10 and binutils 2.35.
    @Test(
        .enabled(if: isLong && getuid() == 0),
        arguments: ["bullseye", "bookworm", "trixie", "sid"])
    func `and the packages are used on a bare Debian`(release: String) throws {
        let home = try TemporaryDirectory()
        let made = try run(
            Locations.program("debootstrap"),
            ["--variant=minbase", "--include=gcc,libc6-dev,pkg-config", release, home("root")],
            home: home)
        try #require(made.succeeded, "\(made.output.suffix(2000))")
        try Tarball.prepare(home, below: "root/root/")
        for path in try Packages.paths {
            let name = URL(fileURLWithPath: path).lastPathComponent
            try FileManager.default.copyItem(atPath: path, toPath: home("root/root/" + name))
        }
        try home.write(
            "root/root/script",
            """
            set -euo pipefail
            cd
            apt-get install --yes ./*.deb >installed 2>&1 || { cat installed; exit 1; }
            (\(Tarball.functions + Tarball.tutorial + Tarball.tour + Tarball.tourOfPackages))
            dpkg --purge $(dpkg-query --show --showformat '${Package} ' 'tweaks*' 'libtweaks*' python3-fbtweak) >&2
            \(Tarball.remains)
            rm -rf .config
            (\(Tarball.unpacking + Tarball.functions + Tarball.tutorial + Tarball.tour))
            rm -r tweaks-*/ /var/lib/tweaks
            \(Tarball.remains)
            """)
        let result = try run(
            Locations.program("unshare"),
            [
                "--mount", "--pid", "--fork", "/bin/bash", "-euc",
                "mount -t proc proc $0/proc; exec chroot $0 $*",
                home("root"), "/usr/bin/env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                "/bin/bash", "/root/script",
            ], home: home)
        let expected =
            Tarball.expected + Tarball.toured + Tarball.touredPackages + Tarball.expected + Tarball.toured
        #expect(result.succeeded && result.output == expected, "\(result.output)\(result.error)")
    }
}
