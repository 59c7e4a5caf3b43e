// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// The timing of an animation.
public struct TweakAnimation: TweakGroup {
    /// The easing curve of an animation.
    public enum Curve: String, CaseIterable, TweakableEnum {
        /// Constant speed.
        case linear
        /// Slow at the start.
        case easeIn
        /// Slow at the end.
        case easeOut
        /// Slow at the start and at the end.
        case easeInOut
    }

    /// The duration of the animation.
    public var duration: Duration
    /// The delay before the animation starts.
    public var delay: Duration
    /// The easing curve of an animation.
    public var curve: Curve

    /// Creates the timing of an animation.
    @inlinable
    public init(
        duration: Duration = .milliseconds(300), delay: Duration = .zero, curve: Curve = .easeInOut
    ) {
        self.duration = duration
        self.delay = delay
        self.curve = curve
    }

    /// The fields: duration and delay, each from 0 to 10 s, and curve.
    public static let fields: [TweakField<TweakAnimation>] = [
        TweakField(.duration, \.duration), TweakField(.delay, \.delay), TweakField(.curve, \.curve),
    ]
}

/// A damped spring.
public struct TweakSpring: TweakGroup {
    /// The mass attached to the spring.
    public var mass: Double
    /// The stiffness: force per unit of distance.
    public var stiffness: Double
    /// The damping: force per unit of speed.
    public var damping: Double
    /// The initial velocity of the mass.
    public var initialVelocity: Double

    /// Creates a spring.
    @inlinable
    public init(
        mass: Double = 1, stiffness: Double = 100, damping: Double = 10, initialVelocity: Double = 0
    ) {
        self.mass = mass
        self.stiffness = stiffness
        self.damping = damping
        self.initialVelocity = initialVelocity
    }

    /// Creates a spring from a damping ratio: below 1 it oscillates, at 1 it settles fastest.
    @inlinable
    public init(
        dampingRatio: Double, mass: Double = 1, stiffness: Double = 100, initialVelocity: Double = 0
    ) {
        self.init(
            mass: mass, stiffness: stiffness, damping: dampingRatio * 2 * (mass * stiffness).squareRoot(),
            initialVelocity: initialVelocity)
    }

    /// The damping relative to critical damping. It is not finite if mass or stiffness is 0.
    @inlinable
    public var dampingRatio: Double { damping / (2 * (mass * stiffness).squareRoot()) }

    /// The fields: mass, stiffness, damping and initial velocity.
    public static let fields: [TweakField<TweakSpring>] = [
        TweakField(.mass, \.mass), TweakField(.stiffness, \.stiffness), TweakField(.damping, \.damping),
        TweakField(.initialVelocity, \.initialVelocity),
    ]
}

/// A drop shadow.
public struct TweakShadow: TweakGroup {
    /// The colour of the shadow.
    public var color: TweakColor
    /// The opacity, from 0 (invisible) to 1 (opaque).
    public var opacity: Double
    /// The blur radius of the shadow's edge.
    public var radius: Double
    /// The offset to the right.
    public var offsetX: Double
    /// The offset downwards.
    public var offsetY: Double

    /// Creates a shadow.
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

    /// The fields: colour, opacity, radius and offset.
    public static let fields: [TweakField<TweakShadow>] = [
        TweakField(.color, \.color), TweakField(.opacity, \.opacity), TweakField(.radius, \.radius),
        TweakField(.offsetX, \.offsetX), TweakField(.offsetY, \.offsetY),
    ]
}

/// Insets from the edges of a rectangle.
public struct TweakEdgeInsets: TweakGroup {
    /// The inset from the edge of the same name.
    public var top, left, bottom, right: Double

    /// Creates insets.
    @inlinable
    public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }

    /// The fields: the four insets.
    public static let fields: [TweakField<TweakEdgeInsets>] = [
        TweakField(.top, \.top), TweakField(.left, \.left), TweakField(.bottom, \.bottom),
        TweakField(.right, \.right),
    ]
}

extension TweakGroup where Self == TweakAnimation {
    /// An animation with the default values.
    public static var animation: TweakAnimation { TweakAnimation() }
}

extension TweakGroup where Self == TweakSpring {
    /// A spring with the default values.
    public static var spring: TweakSpring { TweakSpring() }
}

extension TweakGroup where Self == TweakShadow {
    /// A shadow with the default values.
    public static var shadow: TweakShadow { TweakShadow() }
}

extension TweakGroup where Self == TweakEdgeInsets {
    /// Insets of zero.
    public static var edgeInsets: TweakEdgeInsets { TweakEdgeInsets() }
}
