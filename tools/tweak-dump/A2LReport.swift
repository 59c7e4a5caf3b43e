// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakFormats
import TweakGenerators
import TweakRecords

/// Writes one A2L file with a module for each image. It writes nothing if an image cannot be described, because a tool
/// would take the rest for the whole.
final class A2LReport: Report {
    private var file = A2LFile()
    private var isWhole = true

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var cells: [A2LFile.Cell] = []
        let isInvalid = image.forEachTweak {
            tell($0, of: image)
        } _: { tweak in
            cells.append(A2LFile.Cell(tweak.declaration, address: image.address(of: tweak)))
        }
        guard isShownEmpty || !cells.isEmpty else { return isInvalid }
        do throws(FormatError) {
            guard image.hasAddresses else {
                throw .malformed(
                    path: image.path, reason: "an object file has no addresses yet; name the linked file")
            }
            let leftOut = try file.addModule(
                path: image.path, buildID: image.buildID, byteOrder: image.byteOrder, cells)
            for (tweak, reason) in leftOut {
                let place = tweak.location.map { " at \($0)" } ?? ""
                Warning("\(image.path): \(tweak.key)\(place) is omitted: \(reason)").write(of: "tweak-dump")
            }
            return isInvalid
        } catch {
            printProblem("\(error)")
            isWhole = false
            return true
        }
    }

    func finish() {
        if isWhole { print(file.text, terminator: "") }
    }
}
