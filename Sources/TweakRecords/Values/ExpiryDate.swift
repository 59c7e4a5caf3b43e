extension TweakDeclaration {
    /// The last day for which the tweak is meant, as `YYYY-MM-DD`; `nil` if it says none, or no such date.
    public var expiryDate: String? {
        text(of: "expires").flatMap { isDay($0) ? $0 : nil }
    }

    /// Whether the expiry date is past on a day, given as `YYYY-MM-DD`.
    public func hasExpired(on day: String) -> Bool { expiryDate.map { $0 < day } ?? false }

    /// What to say about the tweak if it has expired. Few have a date, so the day is asked for only then.
    package func expiryWarning(on day: @autoclosure () -> String) -> String? {
        guard let expiryDate, hasExpired(on: day()) else { return nil }
        return "\(key): expired on \(expiryDate)\(owner.map { " (owner: \($0))" } ?? ""); remove it"
    }
}

/// Whether a text is a day as `YYYY-MM-DD`.
package func isDay(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let isDigits = parts.allSatisfy { $0.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }
    guard isDigits, parts.map(\.count) == [4, 2, 2],
        let month = Int(Substring(parts[1])), 1...12 ~= month,
        let day = Int(Substring(parts[2])), 1...31 ~= day
    else { return false }
    return true
}

/// The day of a time in UTC, as `YYYY-MM-DD`.
package func utcDay(secondsSince1970 seconds: Int) -> String {
    CalendarDate(secondsSince1970: seconds).description
}
