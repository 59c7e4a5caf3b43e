internal import TweakJSON
internal import TweakRecords

/// JSON with the file that it is from and the names that lead to it, for the messages of errors.
struct PlacedJSON {
    let value: JSONValue
    private let path: String
    private let place: Place

    /// The names that lead to a value. Making an array of them for each would take longer than all else.
    private indirect enum Place {
        case root
        case member(String, of: Place)

        var names: [String] {
            switch self {
            case .root: []
            case .member(let name, let place): place.names + [name]
            }
        }
    }

    /// Reads a file.
    init(_ bytes: [UInt8], path: String) throws(FormatError) {
        do throws(JSONError) {
            self.init(value: try JSONParser.value(of: bytes), path: path, place: .root)
        } catch {
            throw .malformed(path: path, reason: error.reason)
        }
    }

    private init(value: JSONValue, path: String, place: Place) {
        self.value = value
        self.path = path
        self.place = place
    }

    /// How many members an object has.
    var count: Int { if case .object(let object) = value { object.count } else { 0 } }

    /// The members of an object, sorted by name.
    ///
    /// - Parameter expectation: What is expected here, such as "a feature, an object".
    func members(_ expectation: String) throws(FormatError) -> [(name: String, value: PlacedJSON)] {
        guard case .object(let object) = value else { throw unexpected(expectation) }
        return object.sorted { $0.key < $1.key }.map {
            ($0.key, member($0.key, $0.value))
        }
    }

    /// A member of this object, or an element of this array, which is known already.
    func member(_ name: String, _ value: JSONValue) -> PlacedJSON {
        PlacedJSON(value: value, path: path, place: .member(name, of: place))
    }

    /// The elements of an array, in order.
    ///
    /// - Parameter expectation: What is expected here, such as "an array of paths".
    func elements(_ expectation: String) throws(FormatError) -> [PlacedJSON] {
        guard case .array(let array) = value else { throw unexpected(expectation) }
        return array.enumerated().map { member("\($0)", $1) }
    }

    /// Text without a NUL, which ends a text in C.
    var text: String {
        get throws(FormatError) {
            guard case .scalar(.string(let text)) = value else { throw unexpected("text") }
            guard !text.utf8.contains(0) else { throw invalid("the text contains a NUL character") }
            return text
        }
    }

    var flag: Bool {
        get throws(FormatError) {
            guard case .scalar(.bool(let flag)) = value else { throw unexpected("true or false") }
            return flag
        }
    }

    /// The last of the names that lead here, which is the name of a feature or a tweak.
    var name: String {
        get throws(FormatError) {
            guard case .member(let name, _) = place, !name.isEmpty else { throw invalid("a name is empty") }
            let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value }
            guard !name.unicodeScalars.contains(where: isControl) else {
                throw invalid("a name contains a control character")
            }
            return name
        }
    }

    func unexpected(_ expectation: String) -> FormatError {
        invalid("\(value.summary) is here, but \(expectation) is expected")
    }

    func invalid(_ reason: String) -> FormatError { .invalid(path: path, place: place.names, reason: reason) }
}
