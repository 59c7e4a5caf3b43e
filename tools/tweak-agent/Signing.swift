// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import Glibc
import RemoteValues
import TweakSystem

extension Sign {
    func perform() throws(Failure) {
        if let path = newKey {
            let key = PrivateKey()
            try Self.write(key.text, to: path, mode: 0o600, O_EXCL)
            return print(key.publicKey.text)
        }
        if let text = check { return try checkSignatures(with: text) }
        guard let path = self.key else { return }
        try Self.expectNoReaders(path)
        guard let key = PrivateKey(text: String(decoding: try readInput(path), as: UTF8.self)) else {
            throw Failure("\(path): this is not a key made by tweak sign --new-key", .invalid)
        }
        for file in files {
            let bytes = try readInput(file)
            let signature = try failing { try key.signature(of: bytes) }
            try Self.write(signature.text, to: file + Signature.suffix, mode: 0o666, O_TRUNC)
        }
    }

    /// Throws if others can read a private key, as ssh does.
    private static func expectNoReaders(_ path: String) throws(Failure) {
        guard let status = stat(path: path), status.isRegularFile else { return }
        // Another owner may share the key with a group.
        let others: mode_t = status.st_uid == geteuid() ? 0o077 : 0o007
        guard status.st_mode & others == 0 else {
            throw Failure(
                "\(path): others can read this private key, so nothing was signed; run chmod go= \(path), "
                    + "or make a new key if somebody may have read it",
                .forbidden)
        }
    }

    private func checkSignatures(with text: String) throws(Failure) {
        guard let key = PublicKey(text: text) else {
            throw Failure("\(text): this is not a public key made by tweak sign --new-key", .invalid)
        }
        for file in files {
            let bytes = try readInput(file)
            let path = file + Signature.suffix
            guard access(path, F_OK) == 0 else { throw Failure("\(path): it is missing", .negative) }
            let signature = Signature(text: String(decoding: try readInput(path), as: UTF8.self))
            guard let signature, key.isSignature(signature, of: bytes) else {
                throw Failure("\(path): it is not the signature of \(file) with this key", .negative)
            }
        }
    }

    private static func write(_ text: String, to path: String, mode: UInt32, _ flag: CInt) throws(Failure) {
        let descriptor = openFile(path, O_WRONLY | O_CREAT | flag, mode: mode)
        guard descriptor >= 0 else { throw Failure("\(path): \(systemMessage())", .cannotCreate) }
        defer { close(descriptor) }
        guard writeAll(Array(text.utf8), to: descriptor), fsync(descriptor) == 0 || errno == EINVAL else {
            throw Failure("\(path): \(systemMessage())", .cannotCreate)
        }
    }
}
#endif
