// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakGenerators
import TweakJSON
import TweakRecords

@Suite struct `The space of an optimizer` {
    private let tweaks: [TweakDeclaration] = [
        .init(
            key: TweakKey("A", "B", "Gain"), type: .double, defaultValue: 0.5, minimum: 0.0, maximum: 1.0,
            step: 0.25, attributes: [.init(key: "unit", value: "V"), .init(key: "doc", value: "The gain")]),
        .init(
            key: TweakKey("A", "B", "Mass"), type: .double, defaultValue: 1.0, minimum: 0.01, maximum: 100.0,
            step: 1.0, attributes: [.init(key: "scale", value: "log")]),
        .init(
            key: TweakKey("A", "C/D", "Count"), type: .int32, defaultValue: 4, minimum: 1, maximum: 10,
            step: 4),
        .init(key: TweakKey("A", "B", "Loud"), type: .bool, defaultValue: true),
        .init(
            key: TweakKey("A", "B", "Mode"), type: .string, defaultValue: "slow",
            choices: [TweakChoice("slow"), TweakChoice("fast", label: "quick")]),
        .init(key: TweakKey("A", "B", "Title"), type: .string, defaultValue: "x"),
        .init(key: TweakKey("A", "B", "Speed"), type: .double, defaultValue: 1.0, minimum: 0.0),
        .init(key: TweakKey("A", "B", "State"), type: .double, defaultValue: 0.0, isMonitor: true),
        .init(key: TweakKey("A", "B", "Go"), type: .action, defaultValue: .nothing),
        .init(
            key: TweakKey("A", "B", "Version"), type: .int32, defaultValue: 1, minimum: 0, maximum: 9,
            attributes: [.init(key: "read-only", value: "")]),
    ]

    private func text(_ json: JSONValue) throws -> String {
        String(decoding: try encodeJSON(json), as: UTF8.self)
    }

    @Test func `is written for Optuna`() throws {
        #expect(
            try text(SearchSpace(tweaks).optuna) == """
                {"A/B/Gain":{"attributes":{"high":1,"log":false,"low":0,"step":0.25},"name":"FloatDistribution"},\
                "A/B/Loud":{"attributes":{"choices":[false,true]},"name":"CategoricalDistribution"},\
                "A/B/Mass":{"attributes":{"high":100,"log":true,"low":0.01,"step":null},"name":"FloatDistribution"},\
                "A/B/Mode":{"attributes":{"choices":["slow","fast"]},"name":"CategoricalDistribution"},\
                "A/C%2FD/Count":{"attributes":{"high":9,"log":false,"low":1,"step":4},"name":"IntDistribution"}}
                """)
    }

    @Test func `is written for MLOS`() throws {
        #expect(
            try text(SearchSpace(tweaks).mlos) == """
                {"A/B":{"cost":1,"params":{\
                "A/B/Gain":{"default":0.5,"description":"The gain","meta":{"unit":"V"},"quantization_bins":5,\
                "range":[0,1],"type":"float"},\
                "A/B/Loud":{"default":true,"type":"categorical","values":[false,true]},\
                "A/B/Mass":{"default":1,"log":true,"range":[0.01,100],"type":"float"},\
                "A/B/Mode":{"default":"slow","type":"categorical","values":["slow","fast"]}}},\
                "A/C%2FD":{"cost":1,"params":{\
                "A/C%2FD/Count":{"default":4,"quantization_bins":3,"range":[1,9],"type":"int"}}}}
                """)
    }

    @Test func `lacks what has no limits, and says so`() {
        #expect(
            SearchSpace(tweaks).leftOut.map { "\($0.key): \($0.reason)" } == [
                "A/B/Title: it has no choices", "A/B/Speed: it has no limits",
            ])
    }

    @Test func `lacks names that MLOS does not take`() {
        var space = SearchSpace([
            .init(key: TweakKey("A", "B", "x!"), type: .bool, defaultValue: true),
            .init(key: TweakKey("$A", "B", "y"), type: .bool, defaultValue: true),
            .init(key: TweakKey("A", "B", "z"), type: .bool, defaultValue: true),
        ])
        space.removeUnfitForMLOS()
        #expect(space.dimensions.map(\.tweak.key.name) == ["z"] && space.leftOut.count == 2)
    }

    @Test func `has none of optional tweaks that have choices, and numbers without it`() throws {
        let optional = [TweakDeclaration.Attribute(key: "optional", value: "")]
        var space = SearchSpace([
            .init(key: TweakKey("A", "B", "Quiet"), type: .bool, defaultValue: .absent, attributes: optional),
            .init(
                key: TweakKey("A", "B", "Limit"), type: .double, defaultValue: .absent, minimum: 0.0,
                maximum: 1.0,
                attributes: optional),
        ])
        #expect(space.dimensions.map(\.tweak.key.name) == ["Quiet", "Limit"])
        space.removeUnfitForMLOS()
        #expect(space.leftOut.map(\.reason) == ["MLOS needs a number as the default, and it is none"])
        #expect(
            try text(space.mlos)
                == #"{"A/B":{"cost":1,"params":{"A/B/Quiet":{"default":"none","type":"categorical","values":[false,true,"none"]}}}}"#
        )
    }

    @Test(arguments: [
        (TweakValue.double(-.greatestFiniteMagnitude), TweakValue.double(.greatestFiniteMagnitude)),
        (.double(1), .double(1)), (.double(-.infinity), .double(0)),
    ])
    func `lacks ranges that are too large or empty`(low: TweakValue, high: TweakValue) {
        let tweak = TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .double, defaultValue: 1.0, minimum: low, maximum: high)
        #expect(SearchSpace([tweak]).dimensions.isEmpty)
    }
}
