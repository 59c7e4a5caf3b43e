// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakFormats
import TweakGenerators

/// The program of the build plug-in, so that a package that uses the plug-in need not build all of `tweak`.
///
/// `tweak-accessors features FILE FOLDER NAME` writes the Swift accessors for the environment `default` of a
/// features.json, `tweak-accessors just-tweak FILE FOLDER NAME` those for a file of JustTweak.
@main
struct TweakAccessors {
    static func main() {
        reserveStandardDescriptors()
        do throws(Failure) {
            try run(commandArguments(of: "tweak-accessors"))
        } catch {
            // In the format of compilers, so that it is shown where the build fails.
            printError("error: \(printable(error.message))")
            exit(error.exitCode)
        }
    }

    private static func run(_ arguments: [String]) throws(Failure) {
        guard arguments.count == 4, FeatureAccessors.problem(ofName: arguments[3]) == nil else {
            throw Failure(
                "usage: tweak-accessors features|just-tweak FILE FOLDER NAME, with a NAME of letters and digits",
                .usage)
        }
        let (path, folder, name) = (arguments[1], arguments[2], arguments[3])
        let bytes = try readInput(path)
        let files = try failing {
            guard arguments[0] == "features" else {
                return try JustTweakAccessor(JustTweakFile(json: bytes, path: path), name: name).files
            }
            let environment = "default"
            return [
                try FeatureAccessors(
                    FeaturesFile(json: bytes, path: path).features(in: environment), name: name,
                    origin: Origin(path: path, environment: environment)
                ).swiftFile
            ]
        }
        _ = try writeFiles(files.map { (path: "\(folder)/\($0.name)", bytes: $0.bytes) })
    }
}
