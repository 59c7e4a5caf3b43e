// SPDX-License-Identifier: BSD-3-Clause
#if UI
import CommandSupport
import Crypto
import FoundationEssentials
import Glibc
import NIOSSL
import SwiftASN1
import TweakRecords
import X509

extension TLSConfiguration {
    /// Reads a certificate and its key.
    static func reading(certificate: String, key: String) throws(Failure) -> TLSConfiguration {
        // Report a missing file as such.
        for path in [certificate, key] { _ = try readInput(path) }
        do {
            return .serving(
                try NIOSSLCertificate.fromPEMFile(certificate), try NIOSSLPrivateKey(file: key, format: .pem))
        } catch {
            throw Failure(
                "\(certificate), \(key): not a certificate and its key: \(error)", .invalid)
        }
    }

    fileprivate static func serving(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration
    {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }
}

/// A self-signed certificate. Its key exists only in the memory of this process.
struct MadeCertificate {
    let configuration: TLSConfiguration
    /// The fingerprint that browsers show.
    let fingerprint: String

    private static let (before, after): (TimeInterval, TimeInterval) = (3600, 30 * 24 * 3600)

    /// - Parameter address: The address that the server listens at.
    init(for address: String) throws(Failure) {
        let made: (TLSConfiguration, String) = try failing {
            let key = P256.Signing.PrivateKey()
            let name = try DistinguishedName { CommonName("tweak ui") }
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
                notValidBefore: .now - Self.before, notValidAfter: .now + Self.after, issuer: name,
                subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames(Self.names(of: address))
                }, issuerPrivateKey: .init(key))
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            let bytes = serializer.serializedBytes
            let configuration = TLSConfiguration.serving(
                [try NIOSSLCertificate(bytes: bytes, format: .der)],
                try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
            let digest = SHA256.hash(data: bytes).map { $0.digits(2, radix: 16, uppercase: true) }
            return (configuration, digest.joined(separator: ":"))
        }
        (configuration, fingerprint) = made
    }

    private static func names(of address: String) -> [GeneralName] {
        let all = ["0.0.0.0", "::"].contains(address) ? Origins.ownAddresses() : [address]
        return (all + ["127.0.0.1", "::1", "localhost"]).map { name in
            var (address4, address6) = (in_addr(), in6_addr())
            if inet_pton(AF_INET, name, &address4) == 1 {
                return .ipAddress(ASN1OctetString(contentBytes: ArraySlice(bytes(of: address4))))
            }
            if inet_pton(AF_INET6, name, &address6) == 1 {
                return .ipAddress(ASN1OctetString(contentBytes: ArraySlice(bytes(of: address6))))
            }
            return .dnsName(name)
        }
    }

    private static func bytes<Value>(of value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}
#endif
