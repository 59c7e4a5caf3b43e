// SPDX-License-Identifier: BSD-3-Clause
#if UI
package import CommandSupport
import Glibc
import NIOSSL

extension ServeOptions {
    /// Serves flags until a signal ends it.
    ///
    /// - Parameter program: The process id, path or name of the program whose tweaks are the flags.
    package func serve(_ program: String) throws(Failure) {
        let isLocal = Origins.isLoopback(listening.listen)
        guard isLocal || !noToken else {
            throw Failure("clients on other machines need a token; omit --no-token", .usage)
        }
        var tls: TLSConfiguration?
        if let certificate = listening.certificate, let key = listening.key {
            tls = try .reading(certificate: certificate, key: key)
        } else if !isLocal {
            guard listening.plainHTTP else {
                throw Failure(
                    "for clients on other machines, give --certificate and --key, or --plain-http",
                    .usage)
            }
            printMessage(
                "warning: anyone on the network path to \(listening.listen) can read the token and all flags",
                of: "tweak-ui")
        }
        let kept = try Authentication.token(in: secret)
        let token = noToken ? nil : kept ?? Authentication.random()
        let program = try FlagProgram(program)
        try Served(options: listening, tls: tls) { origins in
            print(origins.base(of: listening.listen))
            if kept == nil, let token { print("Authorization: Bearer \(token)") }
            fflush(nil)
            let server = FlagServer(
                origins: origins, checksHost: isLocal, hasMetrics: metrics, program: program, token: token)
            return (server.respond, nil)
        } end: {
            program.end()
        }.serve()
    }
}
#endif
