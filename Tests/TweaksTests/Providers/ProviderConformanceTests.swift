// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import Tweaks
import TweaksProviderTesting

@Suite struct `The conformance test for providers` {
    private let values: [TweakKey: TweakValue] = [
        .test("Flag"): true, .test("Count"): 3, .test("Ratio"): 0.25, .test("Text"): "a",
        .test("Colour"): .color(TweakColor(red: 1, green: 2, blue: 3)),
    ]

    @Test func `passes a correct provider`() throws {
        let provider = TestProvider("test", values)
        try ProviderConformance(of: provider, holding: values) {
            provider.change([$0: $1.map { .value($0) }])
        }
        .check()
        #expect(try provider.keys == Set(values.keys))
    }

    @Test func `finds a change that is not reported`() throws {
        let provider = TestProvider("test", values)
        let test = ProviderConformance(
            of: provider, holding: [.test("Count"): 3], patience: .milliseconds(20)
        ) {
            provider.change([$0: $1.map { .value($0) }], reporting: false)
        }
        let violation = #expect(throws: ProviderConformance.Violation.self) { try test.check() }
        #expect(
            violation?.description
                == "Test/Values/Count: it should be 77 after a change behind its back, but is 3")
    }

    @Test func `finds a name without a value`() throws {
        let provider = TestProvider("test", [:])
        let violation = #expect(throws: ProviderConformance.Violation.self) {
            try ProviderConformance(of: provider, holding: [.test("Count"): 3]).check()
        }
        #expect(violation?.description == "Test/Values/Count: it is not in the list of names")
    }

    @Test func `finds a duplicate source`() throws {
        let provider = TestProvider("override", values)
        #expect(throws: TweakError.self) {
            try ProviderConformance(of: provider, holding: values).check()
        }
    }
}
