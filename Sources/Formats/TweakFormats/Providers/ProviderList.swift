// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
internal import TweakRecords
internal import TweakSystem

/// A file that lists the providers of a program's values, in order.
///
///     { "providers": [ "session", "environment", "override",
///                      { "name": "local", "variables": ["local.json", "defaults.json"] },
///                      { "name": "features", "features": "features.json", "environment": "beta" },
///                      { "name": "fetched", "values": "values.json" }, "remote", "fleet" ] }
package struct ProviderList: Hashable, Sendable {
    /// One provider.
    package enum Provider: Hashable, Sendable {
        /// A built-in provider of every store, by its name.
        case builtIn(String)
        /// Files of variables, highest precedence first.
        case variables(name: String?, files: [String])
        /// A file of features, and the environment to use.
        case features(name: String?, file: String, environment: String)
        /// A file of values, in the format that an agent writes.
        case values(name: String?, file: String)
    }

    /// The providers, highest precedence first.
    package let providers: [Provider]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes.
    ///   - path: The path for error messages; relative paths in the file start in its directory.
    /// - Throws: ``FormatError`` if the file is malformed.
    package init(json: [UInt8], path: String) throws(FormatError) {
        providers = try PlacedParser.read(json, path: path) { (file) throws(FormatError) in
            var providers: [Provider]?
            try file.members("an object") { (file, name) throws(FormatError) in
                guard name == "providers" else { throw file.invalid("only \"providers\" is expected here") }
                providers = try file.elements("an array of providers") { (file) throws(FormatError) in
                    try Self.provider(&file, path)
                }
            }
            guard let providers else { throw file.invalid("\"providers\" is missing: an array") }
            return providers
        }
    }

    private static func provider(
        _ file: inout PlacedParser, _ path: String
    ) throws(FormatError) -> Provider {
        if let name = try file.textIfNext() { return .builtIn(name) }
        var name, features, environment, values: String?
        var variables: [String]?
        try file.members("the name of a provider, or an object") { (file, member) throws(FormatError) in
            switch member {
            case "name": name = try file.text()
            case "variables":
                variables = try file.elements("an array of paths") { (file) throws(FormatError) in
                    try file.text()
                }
            case "features": features = try file.text()
            case "environment": environment = try file.text()
            case "values": values = try file.text()
            default:
                throw file.invalid("only name, variables, features, environment, values are expected here")
            }
        }
        func located(_ file: String) -> String { resolvedPath(file, relativeTo: path) }
        switch (variables, features, values) {
        case (let variables?, nil, nil):
            return .variables(name: name, files: variables.map(located))
        case (nil, let features?, nil):
            return .features(
                name: name, file: located(features), environment: environment ?? "default")
        case (nil, nil, let values?):
            return .values(name: name, file: located(values))
        default:
            throw file.invalid(
                "a provider has either \"variables\", an array of paths, or \"features\" or \"values\", a path"
            )
        }
    }
}
