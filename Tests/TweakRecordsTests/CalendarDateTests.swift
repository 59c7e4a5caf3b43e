// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing

@testable import TweakRecords

@Suite struct `Days and times in UTC` {
    @Test func `They equal those of the C library`() {
        for seconds in stride(from: 0, to: 9_000_000_000, by: 12_345_677) {
            var (time, parts) = (seconds, tm())
            gmtime_r(&time, &parts)
            let expected = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02d+0000", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec)
            #expect(utcTime(secondsSince1970: seconds) == expected)
        }
    }

    @Test(arguments: [Int.min, -1, Int.max]) func `A wrong clock does no harm`(seconds: Int) {
        #expect(utcTime(secondsSince1970: seconds).hasSuffix("+0000"))
    }
}
