internal import TweakJSON
public import TweakRecords

/// A file of JustTweak: variables by feature.
///
///     { "general": { "greeting": { "Title": "Greeting", "Group": "General", "Value": "hello" } } }
///
/// A variable has `Value`, which is a Bool, a number or text, and may have the texts `Title`, `Description`, `Group` and
/// `GeneratedPropertyName`, and `Encrypted`.
public struct JustTweakFile: Hashable, Sendable {
    /// A variable of a feature.
    public struct Variable: Hashable, Sendable {
        /// The feature's name.
        public let feature: String
        /// Its own name.
        public let name: String
        /// What a person sees instead of the name.
        public let title: String?
        /// What it is, for a person.
        public let details: String?
        /// Under which heading a person finds it.
        public let group: String?
        /// A Bool, a text, an integer or, if it is written with a point or an exponent, a floating-point number.
        public let value: TweakValue
        /// The property that a generated accessor has for it; `nil` if that follows from the name.
        public let propertyName: String?
        /// Whether the program decrypts the value before anyone sees it.
        public let isEncrypted: Bool

        /// The tweak that it is, see ``PlacedFeature``.
        public var key: TweakKey { TweakKey(PlacedFeature.category, feature, name) }
    }

    /// Where it is from.
    public let path: String
    /// Sorted by feature, then by name.
    public let variables: [Variable]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes, at most 100 objects inside each other.
    ///   - path: Where they are from, for the messages of errors.
    /// - Throws: ``FormatError`` if they are no such file.
    public init(json: [UInt8], path: String) throws(FormatError) {
        self.path = path
        var variables: [Variable] = []
        let features = try PlacedJSON(json, path: path).members("an object of features")
        variables.reserveCapacity(features.reduce(0) { $0 + $1.value.count })
        for (_, feature) in features {
            let name = try feature.name
            for (_, variable) in try feature.members("a feature, an object of variables") {
                variables.append(try Self.variable(variable, of: name))
            }
        }
        self.variables = variables
    }

    private static func variable(_ json: PlacedJSON, of feature: String) throws(FormatError) -> Variable {
        guard case .object(let object) = json.value else { throw json.unexpected("a variable, an object") }
        // Comparing a few names takes less time than hashing one, and most variables have few members.
        var rest = object.count
        func member(_ name: String) -> PlacedJSON? {
            guard rest > 0, let member = object.first(where: { $0.key == name }) else { return nil }
            rest -= 1
            return json.member(name, member.value)
        }
        guard let value = member("Value") else {
            throw json.invalid("\"Value\" is missing: true, false, a number or text")
        }
        let scalar: TweakValue
        switch value.value {
        case .scalar(.string): scalar = .string(try value.text)
        case .scalar(let other): scalar = other
        default: throw value.unexpected("true, false, a number or text")
        }
        return Variable(
            feature: feature, name: try json.name, title: try member("Title")?.text,
            details: try member("Description")?.text, group: try member("Group")?.text,
            value: scalar, propertyName: try member("GeneratedPropertyName")?.text,
            isEncrypted: try member("Encrypted")?.flag ?? false)
    }
}
