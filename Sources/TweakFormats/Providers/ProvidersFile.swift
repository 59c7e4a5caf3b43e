internal import TweakJSON
internal import TweakRecords

/// A file that says where a program's values come from, in which order.
///
///     { "providers": [ "session", "environment", "override",
///                      { "name": "local", "variables": ["local.json", "defaults.json"] },
///                      { "name": "features", "features": "features.json", "environment": "beta" } ] }
public struct ProvidersFile: Hashable, Sendable {
    /// One provider.
    public enum Provider: Hashable, Sendable {
        /// One that every store has, by its name.
        case builtIn(String)
        /// Files of variables, the first first.
        case variables(name: String, files: [String])
        /// A file of features, and which environment of it.
        case features(name: String, file: String, environment: String)
    }

    /// The highest first.
    public let providers: [Provider]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes.
    ///   - path: Where they are from, for the messages of errors, and for paths in it, which begin in its folder.
    /// - Throws: ``FormatError`` if they are no such file.
    public init(json: [UInt8], path: String) throws(FormatError) {
        let file = try PlacedJSON(json, path: path)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        for (name, value) in try file.members("an object") where name != "providers" {
            throw value.invalid("only \"providers\" is expected here")
        }
        guard let list = try file.members("an object").first?.value else {
            throw file.invalid("\"providers\" is missing: an array")
        }
        var providers: [Provider] = []
        for element in try list.elements("an array of providers") {
            providers.append(try Self.provider(element, in: folder))
        }
        self.providers = providers
    }

    private static func provider(_ json: PlacedJSON, in folder: String) throws(FormatError) -> Provider {
        if case .scalar(.string(let name)) = json.value { return .builtIn(name) }
        let members = try json.members("the name of a provider, or an object")
        func member(_ name: String) -> PlacedJSON? { members.first { $0.name == name }?.value }
        func located(_ path: String) -> String { path.hasPrefix("/") ? path : folder + path }
        let allowed = ["name", "variables", "features", "environment"]
        if let other = members.first(where: { !allowed.contains($0.name) }) {
            throw other.value.invalid("only \(allowed.joined(separator: ", ")) are expected here")
        }
        switch (member("variables"), member("features")) {
        case (let variables?, nil):
            var files: [String] = []
            for file in try variables.elements("an array of paths") { files.append(located(try file.text)) }
            return .variables(name: try member("name")?.text ?? "file", files: files)
        case (nil, let features?):
            return .features(
                name: try member("name")?.text ?? "features", file: located(try features.text),
                environment: try member("environment")?.text ?? "default")
        default:
            throw json.invalid(
                "a provider has either \"variables\", an array of paths, or \"features\", a path")
        }
    }
}
