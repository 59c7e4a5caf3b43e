#if UI
import CommandSupport
import Glibc
import NIOSSL
import PageOptions
import TweakSystem

extension ServeFlags {
    /// Serves flags until a signal ends it.
    func serve() throws(Failure) {
        let listening = options.listening
        let isLocal = Origins.isLoopback(listening.listen)
        guard isLocal || !options.noToken else {
            throw Failure("beyond this machine clients need a token", EX_USAGE)
        }
        var tls: TLSConfiguration?
        if let certificate = listening.certificate, let key = listening.key {
            tls = try .reading(certificate: certificate, key: key)
        } else if !isLocal {
            guard listening.plainHTTP else {
                throw Failure(
                    "beyond this machine there is a certificate, --certificate and --key, or --plain-http",
                    EX_USAGE)
            }
            printMessage(
                "warning: whoever is on the way to \(listening.listen) can read the token and all flags",
                of: "tweak-ui")
        }
        let kept = try options.tokenFile.map { path throws(Failure) in try Self.token(in: path) }
        let token = options.noToken ? nil : kept ?? Secrets.random()
        let program = try FlagProgram(program)
        try Served(options: listening, tls: tls) { origins in
            print(origins.base(of: listening.listen))
            if kept == nil, let token { print("Authorization: Bearer \(token)") }
            fflush(nil)
            let server = FlagServer(
                origins: origins, checksHost: isLocal, program: program, token: token)
            return (server.respond, nil)
        } end: {
            program.end()
        }.serve()
    }

    /// Reads a token that others do not know.
    private static func token(in path: String) throws(Failure) -> String {
        let bytes = try readInput(path)
        if let status = stat(path: path), status.st_mode & (S_IROTH | S_IWOTH | S_IWGRP) != 0 {
            throw Failure("\(path): others can read or change it; chmod 600 mends that", EX_NOPERM)
        }
        let token = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard token.count == 1, let token = token.first, 16...512 ~= token.utf8.count,
            token.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
        else {
            throw Failure("\(path): a token is one line of 16 to 512 visible characters of ASCII", EX_DATAERR)
        }
        return String(token)
    }
}
#endif
