// SPDX-License-Identifier: BSD-3-Clause
/// A day of the Gregorian calendar.
///
/// The C library's functions for this read files and take a lock, which a forked child may find locked.
package struct CalendarDate: Equatable, Sendable {
    package private(set) var year = 1970
    package private(set) var month = 1
    package private(set) var day: Int

    /// The day of a time in UTC; the first day for negative times.
    package init(secondsSince1970 seconds: Int) {
        day = max(seconds, 0) / 86400 + 1
        // Bounds the loop if the clock is wrong.
        while year < 9999, day > yearLength {
            day -= yearLength
            year += 1
        }
        while month < 12, day > monthLength {
            day -= monthLength
            month += 1
        }
    }

    private var isLeapYear: Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
    private var yearLength: Int { isLeapYear ? 366 : 365 }
    private var monthLength: Int {
        switch month {
        case 2: isLeapYear ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CalendarDate: CustomStringConvertible {
    /// `YYYY-MM-DD`.
    package var description: String { "\(year)-\(month.digits(2))-\(day.digits(2))" }
}

/// A time as `YYYY-MM-DDThh:mm:ss+0000`.
package func utcTime(secondsSince1970 seconds: Int) -> String {
    let second = max(seconds, 0)
    let time = [second / 3600 % 24, second / 60 % 60, second % 60].map { $0.digits(2) }.joined(separator: ":")
    return "\(CalendarDate(secondsSince1970: seconds))T\(time)+0000"
}

extension TweakDeclaration {
    /// The last day on which the tweak should exist, as `2027-01-31`.
    ///
    /// It is `nil` without a valid date.
    public var expiryDate: String? {
        text(of: "expires").flatMap { isDay($0) ? $0 : nil }
    }

    /// Returns whether the tweak has expired before a day, given as `YYYY-MM-DD`.
    public func hasExpired(on day: String) -> Bool { expiryDate.map { $0 < day } ?? false }

    /// The warning about an expired tweak. Few tweaks have a date, so the day is evaluated lazily.
    package func expiryWarning(on day: @autoclosure () -> String) -> String? {
        guard let expiryDate, hasExpired(on: day()) else { return nil }
        return "\(key): expired on \(expiryDate)\(owner.map { " (owner: \($0))" } ?? ""); remove it"
    }
}

/// Returns whether a text is a valid day in the form `YYYY-MM-DD`.
package func isDay(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let isDigits = parts.allSatisfy { $0.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }
    guard isDigits, parts.map({ $0.count }) == [4, 2, 2],
        let month = Int(Substring(parts[1])), 1...12 ~= month,
        let day = Int(Substring(parts[2])), 1...31 ~= day
    else { return false }
    return true
}

/// The day of a time in UTC, as `YYYY-MM-DD`.
package func utcDay(secondsSince1970 seconds: Int) -> String {
    CalendarDate(secondsSince1970: seconds).description
}
