import CommandSupport
import Glibc
import TweakJSON
import TweakSystem

/// Options that a file `.flip.yml` gives, in the working directory, as FlipTheSwitch reads it.
struct FlipDefaults: Decodable {
    private(set) var input, environment, plistOutput, settingsOutput, categoryOutput: String?

    private enum CodingKeys: String, CodingKey {
        case input, environment
        case plistOutput = "plist_output"
        case settingsOutput = "settings_output"
        case categoryOutput = "category_output"
    }

    /// Reads the file; there are no defaults if there is none.
    static func inWorkingDirectory() throws(Failure) -> FlipDefaults {
        guard access(".flip.yml", F_OK) == 0 else { return FlipDefaults() }
        let output = try output(of: "tweak-flip-defaults")
        return try failing { try decodeJSON(from: output) }
    }
}

/// Runs a program that is part of `tweak`, and one of its own because of what it brings with it.
///
/// - Returns: What it writes to standard output.
/// - Throws: ``Failure`` with what it writes, and its exit status, if that is not 0; with `EX_UNAVAILABLE` if it is neither
///   beside `tweak` nor in its `libexec`.
private func output(of name: String) throws(Failure) -> [UInt8] {
    let path = try partOfTweak(name)
    guard let stream = popen(path.shellQuoted, "re") else {
        throw Failure("cannot run \(path): \(systemMessage())", EX_OSERR)
    }
    var bytes: [UInt8] = []
    while case let byte = getc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    let status = pclose(stream)
    guard status == 0 else {
        // Without the newline at the end.
        let message = String(decoding: bytes.dropLast(), as: UTF8.self)
        // A signal's number is in the lower bits, and a status above them.
        throw Failure(
            message.isEmpty ? "\(path) failed" : message, status & 0x7F == 0 ? status >> 8 : EX_SOFTWARE)
    }
    return bytes
}
