// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakGenerators
import TweakRecords

@testable import TweakSearch

/// A tweak for tests.
///
/// - Parameter scale: The name of a scale, which a minimum above 0 goes with.
func tweak(
    _ name: String = "Gain", _ type: TweakType = .double, step: TweakValue? = nil, scale: String? = nil
) -> TweakDeclaration {
    var tweak = TweakDeclaration(
        key: TweakKey("Motor", "Control", name), type: type,
        defaultValue: type == .double ? 1.0 : 1,
        attributes: scale.map { [TweakDeclaration.Attribute(key: "scale", value: $0)] } ?? [])
    tweak.step = step
    if scale != nil { tweak.minimum = 0.001 }
    return tweak
}

/// An axis of doubles.
func axis(_ low: Double, _ high: Double, count: Int? = nil, _ name: String = "Gain") throws -> SearchAxis {
    try #require(SearchAxis(tweak(name), from: .double(low), to: .double(high), count: count))
}

@Suite struct `An axis` {
    @Test func `has values at equal distances`() throws {
        #expect(try axis(0, 1).grid(5) == [0.0, 0.25, 0.5, 0.75, 1.0])
        #expect(try axis(-0.1, 0.2).grid(4) == [-0.1, 0.0, 0.1, 0.2])
        let integers = try #require(SearchAxis(tweak("Count", .int32), from: 1, to: 4, count: nil))
        #expect(integers.grid(10) == [1, 2, 3, 4] && integers.count == 4)
        let listed = try axis(0, 10, count: 3)
        #expect(listed.grid(5) == [0.0, 5.0, 10.0] && listed.count == 3 && listed.isOrdered)
    }

    @Test func `keeps to the step of the tweak`() throws {
        let axis = try #require(
            SearchAxis(tweak(step: 0.1), from: 0.0, to: 0.95, count: nil))
        #expect(axis.count == 10)
        #expect(axis.grid(100) == (0..<10).map { .double(Double($0) / 10) })
        #expect(axis.value(at: 1) == 0.9)
        let even = try #require(
            SearchAxis(tweak("Count", .int32, step: 2), from: 1, to: 6, count: nil))
        #expect(even.grid(10) == [1, 3, 5])
    }

    @Test func `has the geometric mean in the middle of a logarithmic scale`() throws {
        let axis = try #require(
            SearchAxis(tweak(scale: "log"), from: 1.0, to: 100.0, count: nil))
        #expect(axis.grid(3) == [1.0, 10.0, 100.0])
        #expect(try abs(#require(axis.position(of: 10.0)) - 0.5) < 1e-12)
    }

    @Test func `finds the position of each of its values`() throws {
        for axis in [try axis(-3, 7), try axis(0, 1, count: 7)] {
            for value in axis.grid(9) {
                #expect(axis.value(at: try #require(axis.position(of: value))) == value)
            }
            #expect(axis.position(of: 7.5) == nil)
        }
    }

    @Test func `of texts or Bools has no order, and one of numbers has`() {
        #expect(!SearchAxis(tweak(), .choices(["soft", "hard"])).isOrdered)
        #expect(!SearchAxis(tweak(), .choices([false, true])).isOrdered)
        #expect(SearchAxis(tweak(), .choices([64, 128])).isOrdered)
    }

    @Test func `needs ends that ascend`() {
        #expect(SearchAxis(tweak(), from: 1.0, to: 1.0, count: nil) == nil)
        #expect(SearchAxis(tweak(), from: -.double(.greatestFiniteMagnitude), to: 1e308, count: nil) == nil)
        #expect(SearchAxis(tweak("Count", .int32), from: 2, to: 1, count: nil) == nil)
    }
}

extension TweakValue {
    fileprivate static prefix func - (value: TweakValue) -> TweakValue {
        .double(-(value.number ?? 0))
    }
}
