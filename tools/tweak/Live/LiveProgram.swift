import Glibc
import TweakJSON
import TweakProtocol
import CommandSupport
import Tweaks

/// A program that runs and answers.
final class LiveProgram: Program {
    let running: RunningProgram
    let connection: Connection
    private var hasAnswered = false

    var pid: pid_t? { running.pid }
    var title: String { running.title }

    /// Connects.
    ///
    /// - Returns: `nil` if nobody listens.
    init?(_ running: RunningProgram, _ patience: Patience = .usual) throws(Failure) {
        do throws(ConnectionError) {
            connection = try Connection(socket: running.socketPath, patience)
        } catch .refused {
            return nil
        } catch {
            throw error.failure(of: running.title)
        }
        self.running = running
    }

    func ask<Method: ControlMethod>(
        _ method: Method, _ patience: Patience? = nil
    ) throws(Failure) -> Method.Answer {
        do throws(ConnectionError) {
            let answer = try connection.ask(method, patience)
            hasAnswered = true
            return answer
        } catch {
            throw error.failure(of: title)
        }
    }

    /// Asks for what a program with many tweaks needs time for, after it has shown that it is not stopped.
    private func askForMuch<Method: ControlMethod>(_ method: Method) throws(Failure) -> Method.Answer {
        if !hasAnswered { _ = try ask(DescribeProgram()) }
        return try ask(method, connection.patience.forMuch)
    }

    var description: ProgramDescription {
        get throws(Failure) {
            let answer = try ask(DescribeProgram())
            return ProgramDescription(
                program: answer.executable, application: answer.application, overrides: answer.overrides,
                pid: answer.pid)
        }
    }

    func tweaks() throws(Failure) -> [JSONTweak] { try askForMuch(ListTweaks()).tweaks }

    func tweak(_ key: TweakKey) throws(Failure) -> JSONTweak? {
        do throws(ConnectionError) {
            let tweak = try connection.ask(GetTweak(tweak: key))
            hasAnswered = true
            return tweak
        } catch .answer(let error) where error.code == .unknownTweak {
            return nil
        } catch {
            throw error.failure(of: title)
        }
    }

    func set(_ tweak: JSONTweak, to text: String) throws(Failure) -> JSONTweak {
        let answer = try ask(SetTweak(tweak: tweak.declaration.key, text: text))
        let type = tweak.declaration.type
        return JSONTweak(
            tweak.declaration, value: answer.value.value(of: type), source: answer.source,
            pendingValue: answer.pendingValue?.value(of: type))
    }

    func reset(_ scope: TweakScope) throws(Failure) {
        let request =
            switch scope {
            case .tweak(let key): ResetTweaks(tweak: key)
            case .group(let category, let collection): ResetTweaks(category: category, collection: collection)
            case .all: ResetTweaks(all: true)
            }
        _ = try ask(request)
    }

    func apply(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool
    ) throws(Failure) -> SetManyTweaks.Answer {
        try askForMuch(
            SetManyTweaks(
                values: values.values, resettingOthers: resettingOthers,
                allOrNothing: allOrNothing ? true : nil))
    }

    var overrides: OverridesDocument {
        get throws(Failure) {
            var document = OverridesDocument()
            for tweak in try tweaks() {
                let isSet =
                    if let pending = tweak.pendingValue {
                        pending != tweak.declaration.defaultValue
                    } else {
                        tweak.source == "\(TweakSource.overrides)"
                    }
                if isSet { document.set(tweak.nextValue, for: tweak.declaration.key) }
            }
            return document
        }
    }

    func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer { try ask(ExplainTweak(tweak: key)) }
}
