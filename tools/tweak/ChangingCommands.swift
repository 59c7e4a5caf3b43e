import ArgumentParser
import Glibc
import TweakText
import Tweaks

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the value of one tweak.",
        discussion: """
            A value outside the limits is clamped to them, with a warning. A Bool is true or false, on or off, yes or \
            no, 1 or 0; an integer may be hexadecimal (0x1F), octal (0o17) or binary (0b101); a colour is #rrggbb, \
            #rrggbbaa, #rgb or #rgba; a choice is its value or its label.
            """)

    @Argument(help: "The path of the executable.", completion: .file())
    var program: String

    @Argument(help: "The tweak, as Category/Collection/Name.")
    var tweak: String

    @Argument(help: "The new value.")
    var value: String

    func run() throws {
        try reportingFailure { () throws(Failure) in
            let program = try Program(path: program)
            let tweak = try program.tweak(named: tweak)
            let admission: TweakDeclaration.Admission
            do throws(TweakValueError) { admission = try tweak.admit(text: value) } catch {
                throw Failure(message: printable("\(error)"), exitCode: EX_DATAERR)
            }
            if admission.wasClamped {
                writeMessage(
                    "warning: "
                        + printable("\(tweak.key): \(value) is outside the limits; allowed: \(tweak.allowed)")
                )
            }
            let before = program.status(of: tweak).value
            if before != admission.value { try program.change([tweak.key: admission.value]) }
            print(printable("\(tweak.key): \(tweak.text(of: before)) → \(tweak.text(of: admission.value))"))
        }
    }
}

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Give tweaks their defaults again.")

    @Argument(help: "The path of the executable.", completion: .file())
    var program: String

    @Argument(help: "The tweaks, as Category/Collection/Name.")
    var tweaks: [String] = []

    @Flag(help: "Reset all tweaks of the program.")
    var all = false

    func validate() throws {
        if all == tweaks.isEmpty { return }
        throw ValidationError(
            all ? "Name tweaks or give --all, not both." : "Name the tweaks, or give --all.")
    }

    func run() throws {
        try reportingFailure { () throws(Failure) in
            let program = try Program(path: program)
            var chosen = program.tweaks
            if !all {
                chosen = []
                for name in tweaks { chosen.append(try program.tweak(named: name)) }
                if let action = chosen.first(where: { $0.type == .action }) {
                    throw Failure(
                        message: printable("\(TweakValueError.isAction(action))"), exitCode: EX_DATAERR)
                }
            }
            try program.change(Dictionary(chosen.map { ($0.key, nil) }) { first, _ in first })
            for tweak in chosen {
                let before = program.status(of: tweak).value
                guard before != tweak.defaultValue else { continue }
                print(
                    printable(
                        "\(tweak.key): \(tweak.text(of: before)) → \(tweak.text(of: tweak.defaultValue))"))
            }
        }
    }
}
