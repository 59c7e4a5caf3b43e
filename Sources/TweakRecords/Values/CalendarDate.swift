/// A day of the Gregorian calendar.
///
/// The functions of the C library for it read files and take a lock, which a forked child may find locked.
package struct CalendarDate: Equatable, Sendable {
    package private(set) var year = 1970
    package private(set) var month = 1
    package private(set) var day: Int

    /// The day of a time in UTC; the first one that there is for times before it.
    package init(secondsSince1970 seconds: Int) {
        day = max(seconds, 0) / 86400 + 1
        // A wrong clock has years that nobody waits for.
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
    package var description: String { "\(year)-\(padded(month))-\(padded(day))" }
}

/// A time as `YYYY-MM-DDThh:mm:ss+0000`.
package func utcTime(secondsSince1970 seconds: Int) -> String {
    let second = max(seconds, 0)
    let time = [second / 3600 % 24, second / 60 % 60, second % 60].map(padded).joined(separator: ":")
    return "\(CalendarDate(secondsSince1970: seconds))T\(time)+0000"
}

private func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
