// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakRecords

/// The way of a tweak to a value, in time.
///
/// The provider has the target from the beginning, so the target is what is kept. Only the tweak's cells, and
/// observers, see the values between.
struct Ramp {
    /// The time between two values.
    static let period: Duration = .milliseconds(10)

    let start, target: TweakValue
    /// The provider of the target.
    let source: TweakSource
    let began: ContinuousClock.Instant
    let duration: Duration

    var end: ContinuousClock.Instant { began + duration }

    /// Whether the target is what the providers chose.
    func leads(to resolution: Resolution) -> Bool {
        target == resolution.value && source == resolution.source
    }

    /// The value of a tweak at a time, within its limits and on its steps.
    func value(at now: ContinuousClock.Instant, of tweak: TweakDeclaration) -> TweakValue {
        let fraction = min(max((now - began) / duration, 0), 1)
        guard fraction < 1 else { return target }
        switch (start, target) {
        case (.color(let first), .color(let last)):
            return .color(
                TweakColor(
                    red: mixed(first.red, last.red, fraction),
                    green: mixed(first.green, last.green, fraction),
                    blue: mixed(first.blue, last.blue, fraction),
                    alpha: mixed(first.alpha, last.alpha, fraction)))
        case (.integer(let first), .integer(let last)):
            let number = tweak.between(Double(first), Double(last), fraction)
            guard let whole = Int128(exactly: number.rounded()) else { return target }
            return .integer(min(max(whole, min(first, last)), max(first, last)))
        case (.double(let first), .double(let last)):
            var number = tweak.between(first, last, fraction)
            if tweak.type == .float { number = Double(shortest: Float(number)) }
            return .double(min(max(number, min(first, last)), max(first, last)))
        default:
            return target
        }
    }

    private func mixed(_ first: UInt8, _ last: UInt8, _ fraction: Double) -> UInt8 {
        let component = (Double(first) + (Double(last) - Double(first)) * fraction).rounded()
        return UInt8(exactly: component) ?? last
    }
}

extension TweakDeclaration {
    /// The reason why the tweak cannot be ramped; `nil` if it can.
    var obstacleToRamps: String? {
        if needsRestart { return "the tweak takes effect at the next start, so it cannot be ramped" }
        guard type.isNumeric || type == .color, choices.isEmpty, !isOptional else {
            return
                "\(typeWithArticle) cannot be ramped; allowed: numbers without choices, and colours"
        }
        return nil
    }

    /// A number between two others, by the scale and on the steps of the tweak.
    fileprivate func between(_ first: Double, _ last: Double, _ fraction: Double) -> Double {
        let number =
            scale == .log && first > 0 && last > 0
            ? first * pow(last / first, fraction) : first * (1 - fraction) + last * fraction
        guard let step = step?.number, step > 0, let base = (minimum ?? defaultValue).number else {
            return number
        }
        let steps = ((number - base) / step).rounded()
        let onStep = base + steps * step
        return onStep.isFinite ? onStep : number
    }
}

extension TweakValue {
    fileprivate var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
