// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import RemoteValues
import TestSupport
import Testing

@Suite struct `A signed file` {
    let host: AgentHost
    let server: WebServer
    let publicKey: String

    init() throws {
        (host, server) = (try AgentHost(), try WebServer())
        let result = try run(AgentHost.program, ["sign", "--new-key", host.home("key")], home: host.home)
        publicKey = result.output.trimmingCharacters(in: .newlines)
        try host.configure(server.url, "\"publicKey\": \"\(publicKey)\"")
        try server.put(features(["search": true]))
    }

    private func sign(_ file: String = "www/features.json", key: String = "key") throws -> CommandResult {
        try run(
            AgentHost.program, ["sign", "--key", host.home(key), server.home(file)], home: host.home)
    }

    @Test func `is accepted`() throws {
        #expect(try sign().succeeded)
        let result = try host.once()
        #expect(result.succeeded, "\(result.error)")
        #expect(try host.isOn("search") == true)
    }

    @Test func `is refused when changed`() throws {
        #expect(try sign().succeeded)
        try server.put(features(["search": false]))
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("the signature does not match the file and the key") == true)
        #expect(try host.isOn("search") == nil)
    }

    @Test func `is refused with a foreign signature`() throws {
        _ = try run(AgentHost.program, ["sign", "--new-key", host.home("other")], home: host.home)
        #expect(try sign(key: "other").succeeded)
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("the signature does not match the file and the key") == true)
    }

    @Test func `is refused without its signature`() throws {
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("the signature: HTTP status 404 since ") == true)
    }

    @Test func `is refused with an invalid signature`() throws {
        try server.put("<html>", as: "features.json.sig")
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.contains("features.json.sig is not a signature") == true)
    }

    @Test func `is accepted when its signature arrives a moment later`() throws {
        #expect(try sign().succeeded)
        let signature = try String(contentsOfFile: server.home("www/features.json.sig"), encoding: .utf8)
        let old = Locked(true)
        let late = try HostileServer { request in
            guard request.path.hasSuffix(".sig") else { return request.answer(features(["search": true])) }
            let isOld = old.withLock { isOld in
                defer { isOld = false }
                return isOld
            }
            request.answer(isOld ? String(signature.reversed()) : signature, headers: [])
        }
        try host.configure(late.url, "\"publicKey\": \"\(publicKey)\"")
        #expect(try host.once().succeeded)
        #expect(late.requests.count == 4)
    }

    @Test func `has a signature that openssl verifies with the printed key`() throws {
        #expect(try sign().succeeded)
        // What comes before the 32 bytes of any such key: RFC 8410.
        let prefix = try #require(Data(base64Encoded: "MCowBQYDK2VwAyEA"))
        let key = try #require(Data(base64Encoded: publicKey))
        let text = try String(contentsOfFile: server.home("www/features.json.sig"), encoding: .utf8)
        let signature = try #require(Data(base64Encoded: text.trimmingCharacters(in: .newlines)))
        try host.home.write("public.der", prefix + key)
        try host.home.write("signature", signature)
        let result = try CertificateAuthority.openssl(
            [
                "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", host.home("public.der"),
                "-rawin", "-in",
                server.home("www/features.json"), "-sigfile", host.home("signature"),
            ], host.home)
        #expect(result.contains("Verified Successfully"))
    }

    @Test func `can be checked before deployment`() throws {
        let check = { (key: String) in
            try run(
                AgentHost.program, ["sign", "--check", key, server.home("www/features.json")], home: host.home
            )
        }
        #expect(try check(publicKey).status == 1)
        #expect(try sign().succeeded)
        #expect(try check(publicKey).succeeded)
        try server.put(features(["search": false]))
        #expect(try check(publicKey).status == 1)
        #expect(try check("AAAA").status == EX_DATAERR)
    }

    @Test func `is signed with a private key that is never overwritten`() throws {
        #expect(FileStatus(host.home("key"))?.mode == 0o600)
        let again = try run(AgentHost.program, ["sign", "--new-key", host.home("key")], home: host.home)
        #expect(again.status == EX_CANTCREAT)
        #expect(try sign().succeeded)
    }

    @Test func `is not signed with a key that others can read`() throws {
        for mode in [0o604, 0o640, 0o644] as [mode_t] {
            #expect(chmod(host.home("key"), mode) == 0)
            let result = try sign()
            #expect(result.status == EX_NOPERM)
            #expect(result.error.contains("others can read this private key"), "\(result.error)")
            #expect(result.error.contains("chmod go= "))
            #expect(FileStatus(server.home("www/features.json.sig")) == nil)
        }
        #expect(chmod(host.home("key"), 0o400) == 0)
        #expect(try sign().succeeded)
    }

    @Test func `is signed alike by tweak sign and the agent's program`() throws {
        let result = try run(
            Locations.product("tweak"),
            ["sign", "--key", host.home("key"), server.home("www/features.json")],
            home: host.home)
        #expect(result.succeeded, "\(result.error)")
        #expect(try host.once().succeeded)
    }
}

@Suite struct `Ed25519` {
    /// The first and third test of RFC 8032, section 7.1.
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", ""
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82"
        ),
    ])
    func `derives the public key of the specification`(
        secret: String, known: String, message: String
    ) throws {
        let key = try #require(PrivateKey(text: bytes(secret).base64EncodedString()))
        #expect(Data(key.publicKey.bytes) == bytes(known))
        let signature = try key.signature(of: Array(bytes(message)))
        #expect(key.publicKey.isSignature(signature, of: Array(bytes(message))))
        #expect(!key.publicKey.isSignature(signature, of: [1]))
    }

    private func bytes(_ hexadecimal: String) -> Data {
        let digits = Array(hexadecimal)
        return Data(
            stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16) ?? 0
            })
    }

    @Test(arguments: ["", "AAAA", "A", "!!!!", "AAA=AAAA", String(repeating: "A", count: 42) + "B="])
    func `requires keys of 32 bytes in Base64`(text: String) {
        #expect(PublicKey(text: text) == nil)
    }
}
#endif
