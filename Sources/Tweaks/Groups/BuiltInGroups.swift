public import TweakRecords

/// How an animation runs.
public struct TweakAnimation: TweakGroup {
    /// How its speed changes.
    public enum Curve: String, CaseIterable, TweakableEnum {
        /// The same speed all the time.
        case linear
        /// Slow at the beginning.
        case easeIn
        /// Slow at the end.
        case easeOut
        /// Slow at the beginning and at the end.
        case easeInOut
    }

    /// How long it takes.
    public var duration: Duration
    /// How long it waits before.
    public var delay: Duration
    /// How its speed changes.
    public var curve: Curve

    /// Makes an animation's values.
    public init(
        duration: Duration = .milliseconds(300), delay: Duration = .zero, curve: Curve = .easeInOut
    ) {
        self.duration = duration
        self.delay = delay
        self.curve = curve
    }

    /// Duration, delay, from 0 to 10 s, and curve.
    public static let fields: [TweakField<TweakAnimation>] = [
        TweakField("Duration", \.duration, in: .zero ... .seconds(10), step: .milliseconds(10)),
        TweakField("Delay", \.delay, in: .zero ... .seconds(10), step: .milliseconds(10)),
        TweakField("Curve", \.curve),
    ]
}

/// A damped spring.
public struct TweakSpring: TweakGroup {
    /// The mass at its end.
    public var mass: Double
    /// The force for each unit of distance.
    public var stiffness: Double
    /// The force for each unit of speed.
    public var damping: Double
    /// The speed at the beginning.
    public var initialVelocity: Double

    /// Makes a spring's values.
    public init(
        mass: Double = 1, stiffness: Double = 100, damping: Double = 10, initialVelocity: Double = 0
    ) {
        self.mass = mass
        self.stiffness = stiffness
        self.damping = damping
        self.initialVelocity = initialVelocity
    }

    /// Mass, stiffness, damping and initial velocity.
    public static let fields: [TweakField<TweakSpring>] = [
        TweakField("Mass", \.mass, in: 0.01...100),
        TweakField("Stiffness", \.stiffness, in: 0...1000),
        TweakField("Damping", \.damping, in: 0...100),
        TweakField("Initial Velocity", \.initialVelocity, in: -100...100),
    ]
}

/// A drop shadow.
public struct TweakShadow: TweakGroup {
    /// Its colour.
    public var color: TweakColor
    /// From 0, which is invisible, to 1.
    public var opacity: Double
    /// How far its edge is blurred.
    public var radius: Double
    /// How far it is to the right.
    public var offsetX: Double
    /// How far it is down.
    public var offsetY: Double

    /// Makes a shadow's values.
    public init(
        color: TweakColor = TweakColor(red: 0, green: 0, blue: 0), opacity: Double = 0.25,
        radius: Double = 4, offsetX: Double = 0, offsetY: Double = 2
    ) {
        self.color = color
        self.opacity = opacity
        self.radius = radius
        self.offsetX = offsetX
        self.offsetY = offsetY
    }

    /// Colour, opacity, radius and offset.
    public static let fields: [TweakField<TweakShadow>] = [
        TweakField("Color", \.color),
        TweakField("Opacity", \.opacity, in: 0...1, step: 0.01),
        TweakField("Radius", \.radius, in: 0...100),
        TweakField("Offset X", \.offsetX, in: -100...100),
        TweakField("Offset Y", \.offsetY, in: -100...100),
    ]
}

/// Distances from the edges of a rectangle inwards.
public struct TweakEdgeInsets: TweakGroup {
    /// The distance from the edge of this name.
    public var top, left, bottom, right: Double

    /// Makes the distances.
    public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }

    /// The four distances.
    public static let fields: [TweakField<TweakEdgeInsets>] = [
        TweakField("Top", \.top, in: -1000...1000), TweakField("Left", \.left, in: -1000...1000),
        TweakField("Bottom", \.bottom, in: -1000...1000), TweakField("Right", \.right, in: -1000...1000),
    ]
}

extension TweakGroup where Self == TweakAnimation {
    /// An animation with the usual values.
    public static var animation: TweakAnimation { TweakAnimation() }
}

extension TweakGroup where Self == TweakSpring {
    /// A spring with the usual values.
    public static var spring: TweakSpring { TweakSpring() }
}

extension TweakGroup where Self == TweakShadow {
    /// A shadow with the usual values.
    public static var shadow: TweakShadow { TweakShadow() }
}

extension TweakGroup where Self == TweakEdgeInsets {
    /// No distance from any edge.
    public static var edgeInsets: TweakEdgeInsets { TweakEdgeInsets() }
}
