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
    @inlinable
    public init(
        duration: Duration = .milliseconds(300), delay: Duration = .zero, curve: Curve = .easeInOut
    ) {
        self.duration = duration
        self.delay = delay
        self.curve = curve
    }

    /// Duration, delay, from 0 to 10 s, and curve.
    public static let fields: [TweakField<TweakAnimation>] = [
        TweakField(.duration, \.duration), TweakField(.delay, \.delay), TweakField(.curve, \.curve),
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
    @inlinable
    public init(
        mass: Double = 1, stiffness: Double = 100, damping: Double = 10, initialVelocity: Double = 0
    ) {
        self.mass = mass
        self.stiffness = stiffness
        self.damping = damping
        self.initialVelocity = initialVelocity
    }

    /// Makes a spring's values with a damping ratio: below 1 it swings, at 1 it comes to rest in the shortest time.
    @inlinable
    public init(
        dampingRatio: Double, mass: Double = 1, stiffness: Double = 100, initialVelocity: Double = 0
    ) {
        self.init(
            mass: mass, stiffness: stiffness, damping: dampingRatio * 2 * (mass * stiffness).squareRoot(),
            initialVelocity: initialVelocity)
    }

    /// The damping as a part of what just keeps the spring from swinging. Not a number of a spring without mass or stiffness.
    @inlinable
    public var dampingRatio: Double { damping / (2 * (mass * stiffness).squareRoot()) }

    /// Mass, stiffness, damping and initial velocity.
    public static let fields: [TweakField<TweakSpring>] = [
        TweakField(.mass, \.mass), TweakField(.stiffness, \.stiffness), TweakField(.damping, \.damping),
        TweakField(.initialVelocity, \.initialVelocity),
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
    @inlinable
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
        TweakField(.color, \.color), TweakField(.opacity, \.opacity), TweakField(.radius, \.radius),
        TweakField(.offsetX, \.offsetX), TweakField(.offsetY, \.offsetY),
    ]
}

/// Distances from the edges of a rectangle inwards.
public struct TweakEdgeInsets: TweakGroup {
    /// The distance from the edge of this name.
    public var top, left, bottom, right: Double

    /// Makes the distances.
    @inlinable
    public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }

    /// The four distances.
    public static let fields: [TweakField<TweakEdgeInsets>] = [
        TweakField(.top, \.top), TweakField(.left, \.left), TweakField(.bottom, \.bottom),
        TweakField(.right, \.right),
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
