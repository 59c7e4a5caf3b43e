// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

/// nginx, on this machine only.
final class WebServer {
    let home: TemporaryDirectory
    let port: UInt16
    private let tls: String?
    private var process: RunningCommand

    /// Starts it with a folder `www`.
    ///
    /// - Parameters:
    ///   - certificate: The certificate and key `<name>.crt` and `<name>.key` in the folder; `nil` for plain HTTP.
    ///   - more: What the configuration says besides.
    init(_ home: TemporaryDirectory? = nil, certificate: String? = nil, more: String = "") throws {
        let home = try home ?? TemporaryDirectory()
        port = try freePort()
        tls = certificate
        self.home = home
        let port = port
        let ssl = certificate.map {
            "ssl_certificate \(home($0 + ".crt")); ssl_certificate_key \(home($0 + ".key"));"
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(home($0));"
        }
        try FileManager.default.createDirectory(atPath: home("www"), withIntermediateDirectories: true)
        try home.write(
            "nginx.conf",
            """
            daemon off; master_process off; pid \(home("nginx.pid")); error_log \(home("error.log"));
            events {}
            http {
              types { application/json json; text/html html; }
              default_type application/octet-stream;
              access_log \(home("access.log"));
              \(temporary.joined(separator: " "))
              server { listen 127.0.0.1:\(port) \(ssl == nil ? "" : "ssl"); \(ssl ?? "") root \(home("www")); \(more) }
            }
            """)
        process = try Self.start(home)
        try waitForIt()
    }

    deinit { stop() }

    private static func start(_ home: TemporaryDirectory) throws -> RunningCommand {
        try TestSupport.start(
            Locations.program("nginx"), ["-c", home("nginx.conf"), "-p", home.path, "-e", home("error.log")],
            home: home)
    }

    private func waitForIt() throws {
        guard waitUntil({ canConnect(to: port) || !process.isRunning }), process.isRunning else {
            throw CompilationError(description: process.written.error)
        }
    }

    /// Starts it again after ``stop()``.
    func restart() throws {
        process = try Self.start(home)
        try waitForIt()
    }

    /// Kills it.
    func stop() {
        guard process.isRunning else { return }
        process.kill()
        _ = process.wait()
    }

    func pause() { process.pause() }
    func resume() { process.resume() }

    /// The host in addresses is the one of the certificates that ``CertificateAuthority`` makes.
    var url: String { tls == nil ? "http://127.0.0.1:\(port)/" : "https://localhost:\(port)/" }

    /// Puts a file there as a deployment does: whole.
    func put(_ text: String, as name: String = "features.json") throws {
        try home.write("www/\(name).new", text)
        rename(home("www/\(name).new"), home("www/\(name)"))
    }

    /// What was asked, one line each.
    var log: [String] {
        let text = (try? String(contentsOfFile: home("access.log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}

/// A port that nobody listens at, and that the kernel gives to nobody before it is used, nor while its server is
/// stopped: it is outside the range from which connections and sockets bound to port 0 get theirs.
func freePort() throws -> UInt16 {
    let given = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        .split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) }
    let fixed = (10_000...65_535).filter { $0 < given[0] || $0 > given[1] }
    while true {
        let port = try #require(fixed.randomElement())
        guard !handedOut.withLock({ !$0.insert(port).inserted }), let listener = try? Listener(port: port)
        else { continue }
        close(listener.descriptor)
        return port
    }
}

private let handedOut = Locked<Set<UInt16>>([])

/// A socket that listens at a port of this machine.
struct Listener {
    let descriptor: CInt
    let port: UInt16

    /// - Parameter port: 0 is one that the kernel gives.
    init(port: UInt16 = 0) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        var address = loopback(port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isListening else {
            let error = errno
            close(descriptor)
            throw POSIXError(.init(rawValue: error) ?? .EIO)
        }
        self.port = UInt16(bigEndian: address.sin_port)
    }
}

func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

func canConnect(to port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

/// Certificates for `localhost`, made by openssl.
struct CertificateAuthority {
    let home: TemporaryDirectory
    var file: String { home("ca.crt") }

    init(_ home: TemporaryDirectory, name: String = "ca") throws {
        self.home = home
        try Self.openssl(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "30",
                "-subj", "/CN=\(name)", "-keyout", home("\(name).key"), "-out", home("\(name).crt"),
            ], home)
    }

    /// Makes the files `<name>.crt` and `<name>.key`.
    func make(_ name: String, host: String = "localhost", isExpired: Bool = false) throws {
        try home.write("\(name).ext", "subjectAltName=DNS:\(host)\n")
        try Self.openssl(
            [
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=\(host)",
                "-keyout", home("\(name).key"), "-out", home("\(name).csr"),
            ], home)
        // It ended a day before it began, which nothing but the end of it makes invalid today.
        try Self.openssl(
            [
                "x509", "-req", "-in", home("\(name).csr"), "-CA", file, "-CAkey", home("ca.key"),
                "-CAcreateserial",
                "-days", isExpired ? "-1" : "30", "-extfile", home("\(name).ext"), "-out",
                home("\(name).crt"),
            ], home)
    }

    @discardableResult
    static func openssl(_ arguments: [String], _ home: TemporaryDirectory) throws -> String {
        let result = try run(Locations.program("openssl"), arguments, home: home)
        guard result.succeeded else { throw CompilationError(description: result.error) }
        return result.output
    }
}
#endif
