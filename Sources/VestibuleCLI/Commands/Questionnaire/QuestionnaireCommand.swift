import BusProtocol
import EventLoop
import Foundation
import JSONText

/// `vestibule questionnaire`: checks, compares, imports and publishes definitions, and moves sessions between versions.
///
/// `check` and `diff` work without a running system and without a database.
enum QuestionnaireCommand {
    static let commands = CommandGroup(
        name: "questionnaire",
        usages: [
            "ls [KEY]", "check FILE", "diff OLD NEW", "import FILE", "publish KEY DRAFT", "delete-draft KEY DRAFT",
            "migrate KEY", "seal",
        ])

    static func run(_ words: ArraySlice<String>) throws {
        let rest = words.dropFirst()
        switch words.first {
        case "ls": try QuestionnaireText.list(rest)
        case "migrate": try migrate(rest)
        // `seal-dates` is the former name, from when the command sealed only dates.
        case "seal", "seal-dates": try seal(rest)
        default: guard try DraftCommand<Questionnaires>.run(words) else { throw commands.misuse(of: words.first) }
        }
    }

    /// Moves every open session to the newest version, in batches. It skips sessions that have that version already, so
    /// an operator can run an interrupted command again.
    private static func migrate(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(
            words, options: ["--state", "--batch"], flags: ["--dry-run"], mostWords: 1)
        let batch = arguments["--batch"].map { Int64($0) ?? 0 } ?? 200
        guard let key = arguments.rest.first, (1...1000).contains(batch) else {
            throw CommandError.usage("expected vestibule questionnaire migrate KEY, and a --batch of 1 to 1000")
        }
        let (bus, isDryRun) = (try BusAccess(state: arguments["--state"]), arguments.has("--dry-run"))
        var (sum, after) = (QuestionnaireSessionMigrationTotals(), String?.none)
        repeat {
            let request = MigrateSessions(questionnaire: key, limit: batch, after: after, dryRun: isDryRun)
            do {
                let moved = try BusCommand.waiting { try await BusCommand.asOperator(request, bus) }
                after = sum.add(moved)
            } catch let error as BusError {
                throw interruption(error, after: after == nil ? nil : (isDryRun ? "Would move " : "Moved ") + sum.line)
            }
            if isatty(2) == 1 { FileHandle.standardError.write(Data("\r\(sum.bar)".utf8)) }
        } while after != nil
        if isatty(2) == 1 { FileHandle.standardError.write(Data("\n".utf8)) }
        say((isDryRun ? "Would move " : "Moved ") + sum.line)
        if let warning = sum.warning { throw CommandError(warning) }
    }

    /// Encrypts dates and answers about health from before they were encrypted, in batches. It skips encrypted ones, so
    /// an operator can run an interrupted command again.
    private static func seal(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state", "--batch"], mostWords: 0)
        let batch = arguments["--batch"].map { Int64($0) ?? 0 } ?? 50
        guard (1...100).contains(batch) else {
            throw CommandError.usage("expected vestibule questionnaire seal, and a --batch of 1 to 100")
        }
        let bus = try BusAccess(state: arguments["--state"])
        var (sum, next, waits) = (DatesSealed(sessions: 0, dates: 0), SealDates?.some(SealDates(limit: batch)), 0)
        while let request = next {
            do {
                let sealed = try BusCommand.waiting { try await BusCommand.asOperator(request, bus) }
                sum.sessions += sealed.sessions
                sum.dates += sealed.dates
                sum.answers = (sum.answers ?? 0) + (sealed.answers ?? 0)
                next = sealed.next.map { SealDates(limit: batch, after: $0) }
            } catch let error as BusError where error.code == ErrorCode.overloaded.name && waits < 1000 {
                // Someone is changing one of these answers at this moment.
                waits += 1
                usleep(200_000)
            } catch let error as BusError {
                throw interruption(error, after: request.after == nil ? nil : "Sealed \(told(sum))")
            }
            if isatty(2) == 1 { FileHandle.standardError.write(Data("\rSealed \(told(sum))".utf8)) }
        }
        if isatty(2) == 1 { FileHandle.standardError.write(Data("\n".utf8)) }
        say("Sealed \(told(sum))")
    }

    /// - Parameter done: a sentence about the batches before the error; `nil` if there were none.
    static func interruption(_ error: BusError, after done: String?) -> CommandError {
        if done != nil, isatty(2) == 1 { FileHandle.standardError.write(Data("\n".utf8)) }
        return CommandError(CommandError(error).message + (done.map { " \($0) Run it again to go on." } ?? ""))
    }

    private static func told(_ sum: DatesSealed) -> String {
        let (dates, answers) = (sum.dates, sum.answers ?? 0)
        return "\(dates) date\(dates == 1 ? "" : "s") and \(answers) answer\(answers == 1 ? "" : "s") about health in "
            + "\(sum.sessions) session\(sum.sessions == 1 ? "" : "s")."
    }
}
