// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakJSON
import TweakRecords
import TweakSystem

/// The options in a file `.flip.yml` in the working directory, as FlipTheSwitch reads it.
struct FlipDefaults: Decodable {
    private(set) var input, environment, plistOutput, settingsOutput, categoryOutput: String?

    private enum CodingKeys: String, CodingKey {
        case input, environment
        case plistOutput = "plist_output"
        case settingsOutput = "settings_output"
        case categoryOutput = "category_output"
    }

    /// Reads the file; a missing file has no options.
    static func inWorkingDirectory() throws(Failure) -> FlipDefaults {
        guard access(".flip.yml", F_OK) == 0 else { return FlipDefaults() }
        let output = try output(ofPart: "tweak-flip-defaults")
        return try failing { try decodeJSON(from: output) }
    }
}
