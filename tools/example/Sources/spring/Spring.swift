import Glibc
import SpringScene
import Tweaks

/// A spring in the terminal. Every constant that shapes it is a tweak: some in this file, some in C, some in a shared
/// library.
///
/// `spring [FRAMES]` stops after that many frames; without a number it runs until Ctrl-C on a terminal, and for ten
/// frames elsewhere.
@main
struct Spring {
    static func main() {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let frames = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? (isTerminal ? .max : 10)
        var motion = spring(position: 1, velocity: 0)

        for _ in 0..<frames {
            let rate = #tweak("Spring", "Drawing", "Frames per second", default: 30.0, in: 1...120)
            spring_scene_advance(&motion, 1 / rate)
            draw(motion.position, redrawing: isTerminal)
            usleep(useconds_t(1_000_000 / rate))
        }
        if isTerminal { print() }
    }

    /// Draws the mass at a position from -1 (left) to 1 (right), with a trail from the middle.
    static func draw(_ position: Double, redrawing: Bool) {
        let width = #tweak("Spring", "Drawing", "Width", default: 60, in: 20...200)
        let glyph = #tweak("Spring", "Drawing", "Glyph", default: "●")
        let middle = width / 2
        let place = min(max(middle + Int(position * Double(middle)), 0), width - 1)

        var line = Array(repeating: " ", count: width)
        if #tweak("Spring", "Drawing", "Trail", default: true) {
            for column in min(place, middle)...max(place, middle) { line[column] = "·" }
        }
        line[place] = glyph
        let label = String(cString: spring_scene_label())
        print("\(redrawing ? "\r" : "")\(label) |\(line.joined())|", terminator: redrawing ? "" : "\n")
        fflush(nil)
    }
}
