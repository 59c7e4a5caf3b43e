// SPDX-License-Identifier: BSD-3-Clause
#if UI
package import CommandSupport
import Dispatch
import Glibc
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import TweakClient
import TweakProtocol
import TweakRecords
import TweakSystem

extension PageOptions {
    /// Serves the page until a signal ends it.
    ///
    /// - Parameter program: The process id, path or name of the program to show first.
    package func serve(first program: String?) throws(Failure) {
        let tls = try transport()
        let kept = try Authentication.token(in: secret)
        let fleet = fleet ? try FleetClient(configuration: configuration) : nil
        let bake = try BakeCommand(folder: sources)
        let board = Board()
        let sessions = ProgramSessions(board)
        if allUsers, geteuid() != 0 {
            printMessage("--all-users: only root reaches the programs of other users", of: "tweak-ui")
        }
        Discovery(board: board, sessions: sessions, ofAllUsers: allUsers).start()
        let first = try program.map { name throws(Failure) in
            try PageRequests.add(name, to: board, ofAllUsers: allUsers)
        }
        let authentication = Authentication(token: kept ?? Authentication.random())
        // A self-signed certificate and a free port differ in the next run.
        let comesBack = kept != nil && listening.port != 0 && (tls == nil || listening.certificate != nil)
        let path = PagePath(path) ?? .root
        try Served(options: listening, tls: tls) { [names = Set(name.map { $0.lowercased() })] origins in
            var origins = origins
            origins.names = names
            let server = PageServer(
                origins: origins, path: path, authentication: authentication,
                api: PageRequests(
                    board: board, sessions: sessions, first: first, ofAllUsers: allUsers,
                    comesBack: comesBack, fleet: fleet, bake: bake))
            var url =
                origins.base(of: listening.listen)
                + "\(path.text)#token=\(authentication.token.percentEncoded)"
            if let first { url += "&program=\(first.percentEncoded)" }
            return (server.respond, announce(url))
        } end: {
            board.end()
        }.serve()
    }

    /// The TLS configuration, after a warning about the risks.
    ///
    /// - Returns: `nil` for plain HTTP.
    private func transport() throws(Failure) -> TLSConfiguration? {
        if let certificate = listening.certificate, let key = listening.key {
            return try .reading(certificate: certificate, key: key)
        }
        if Origins.isLoopback(listening.listen) { return nil }
        guard !listening.plainHTTP else {
            printMessage(
                "warning: anyone on the network path to \(listening.listen) can read the address, and with it see and change the "
                    + "tweaks of all your programs", of: "tweak-ui")
            return nil
        }
        let made = try MadeCertificate(for: listening.listen)
        printMessage(
            "browsers warn of the certificate, which was made for this run. Continue only if they show this SHA-256 "
                + "fingerprint:", of: "tweak-ui")
        printError("  " + made.fingerprint)
        return made.configuration
    }

    /// - Returns: A file that redirects to the page, if there is one.
    private func announce(_ url: String) -> String? {
        print(url)
        fflush(nil)
        // For the camera of a phone, so only on a terminal.
        if !Origins.isLoopback(listening.listen), isatty(STDERR_FILENO) == 1, let code = QRCode(url) {
            printError(code.lines.joined(separator: "\n"))
        }
        return open ? openInBrowser(url) : nil
    }
}

extension Origins {
    /// The URL of the server for other machines.
    ///
    /// - Parameter address: The address that it listens at.
    func base(of address: String) -> String {
        "\(scheme)://\(Self.inURL(Self.reachable(address))):\(port)"
    }
}

/// A server from start to end.
struct Served: Sendable {
    typealias Responder = @Sendable (Request, PageContext) async -> Response

    let options: ListenOptions
    /// `nil` for plain HTTP.
    let tls: TLSConfiguration?
    /// Called when the address is known. Returns the responder, and a file to remove at the end.
    let begin: @Sendable (Origins) -> (respond: Responder, file: String?)
    /// Announces the end to clients.
    let end: @Sendable () -> Void

    private var address: String { options.listen }

    /// Serves until a signal ends it.
    func serve() throws(Failure) {
        let end = Mutex<(problem: Failure?, signal: CInt)>((nil, 0))
        let done = DispatchSemaphore(value: 0)
        Task {
            let result = await run()
            end.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        let (problem, signal) = end.withLock { $0 }
        if let problem { throw problem }
        Signals.die(signal)
    }

    /// - Returns: The reason why it could not start, or the signal that ended it.
    private func run() async -> (problem: Failure?, signal: CInt) {
        let limits = ConnectionLimits()
        let channelConfiguration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionCounter(limits), RequestDeadline()],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100))
        let shared = Shared()
        var builder = HTTPServerBuilder.http1(configuration: channelConfiguration)
        if let tls {
            do { builder = try .tls(builder, tlsConfiguration: tls) } catch {
                return (Failure("the certificate cannot be used: \(error)", .invalid), 0)
            }
        }
        var logger = Logger(label: "tweak-ui", factory: { _ in SwiftLogNoOpLogHandler() })
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder { (request: Request, context: PageContext) in
                guard let respond = shared.respond else { return Response(status: .serviceUnavailable) }
                return await respond(request, context)
            },
            server: builder,
            configuration: .init(
                address: .hostname(address, port: Int(options.port)), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    ConnectionLimits.most, logger: logger)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? Int(options.port)
                (shared.respond, shared.file) = begin(
                    Origins(address: address, port: port, isSecure: tls != nil))
            }, logger: logger)
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: application)], gracefulShutdownSignals: [], logger: logger))
        let signals = Signals { number in
            end()
            // Do not wait for an action or a browser.
            DispatchQueue.global().asyncAfter(deadline: .now() + 2) {
                if let file = shared.file { unlink(file) }
                Signals.die(number)
            }
            Task {
                // Pages are told before the connections are closed.
                try? await Task.sleep(for: .milliseconds(100))
                await group.triggerGracefulShutdown()
            }
        }
        defer { if let file = shared.file { unlink(file) } }
        do { try await group.run() } catch {
            if signals.first == 0 {
                return (
                    Failure("cannot listen at \(Origins.inURL(address)):\(options.port): \(error)", .system),
                    0
                )
            }
        }
        return (nil, signals.first)
    }
}

/// The state that exists only once the server listens.
private final class Shared: Sendable {
    /// A structure, because each access to a closure in a tuple would wrap it once more.
    private struct State {
        var respond: Served.Responder?
        var file: String?
    }

    private let value = Mutex(State())
    var respond: Served.Responder? {
        get { value.withLock { $0.respond } }
        set { value.withLock { $0.respond = newValue } }
    }
    /// A file that redirects a browser to the page.
    var file: String? {
        get { value.withLock { $0.file } }
        set { value.withLock { $0.file = newValue } }
    }
}

/// SIGINT, SIGTERM and SIGHUP. The second signal ends the program at once.
private final class Signals {
    private let sources: [any DispatchSourceSignal]
    private let received: Received

    private final class Received: Sendable {
        let first = Mutex<CInt>(0)
    }

    /// The first signal received, or 0.
    var first: CInt { received.first.withLock { $0 } }

    /// - Parameter body: Called with the first signal.
    init(_ body: @escaping @Sendable (CInt) -> Void) {
        let received = Received()
        self.received = received
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                let isFirst = received.first.withLock { first in
                    defer { if first == 0 { first = number } }
                    return first == 0
                }
                if isFirst { body(number) } else { Self.die(number) }
            }
            source.resume()
            return source
        }
    }

    /// Ends the process by the signal, as its parent expects.
    static func die(_ number: CInt) {
        signal(number, SIG_DFL)
        raise(number)
    }
}

/// Opens the page with the desktop's browser. Everybody can read the arguments of a process, so the argument is a
/// private file that redirects to the address.
///
/// - Returns: The file.
private func openInBrowser(_ url: String) -> String? {
    guard let directory = ControlDirectory.ofUser, (try? directory.prepare()) != nil else { return nil }
    let path = "\(directory.path)/ui-\(getpid()).html"
    unlink(path)
    let file = openFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    guard file >= 0 else { return nil }
    // The ampersand is the only character of an address with a meaning in HTML.
    let text = url.split(separator: "&").joined(separator: "&amp;")
    _ = writeAll(
        Array("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=\(text)\">\n".utf8), to: file)
    close(file)
    let opener = try? StartedProcess(
        "xdg-open", ["xdg-open", path].map { Array($0.utf8) },
        standard: [STDIN_FILENO, STDERR_FILENO, STDERR_FILENO])
    if opener == nil { printMessage("xdg-open is not installed; open the address yourself", of: "tweak-ui") }
    return path
}
#endif
