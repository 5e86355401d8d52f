import BusProtocol
import Foundation
import JSONText

/// `vestibule account`: suspends and restores accounts, and changes many of them at once.
enum AccountCommand {
    private static let commands = CommandGroup(
        name: "account",
        usages: [
            "suspend PERSON --note TEXT", "restore PERSON --note TEXT", "backfill --complete FILE", "rehash-phones",
        ])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(
            words, options: ["--state", "--complete", "--note", "--operator", "--batch"], flags: ["--json"],
            mostWords: 2)
        let bus = try BusAccess(state: arguments["--state"])
        switch (arguments.rest.first, arguments.rest.count) {
        case ("backfill", 1): try backfill(arguments, bus)
        case ("rehash-phones", 1): try rehashPhones(arguments, bus)
        case ("suspend", 2), ("restore", 2): try change(arguments, bus)
        default:
            throw commands.misuse(of: arguments.rest.first)
        }
    }

    private static func change(_ arguments: Arguments, _ bus: BusAccess) throws {
        guard let person = Identifier(arguments.rest[1]) else {
            throw CommandError.usage("\(arguments.rest[1]) is not a person's id: expected 36 characters")
        }
        guard let note = arguments["--note"], !note.isEmpty else {
            throw CommandError.usage("--note TEXT must give the reason, which is stored with the account")
        }
        let request = ChangeStandingAsOperator(
            personId: person, isSuspended: arguments.rest[0] == "suspend", note: note,
            operatorName: try OperatorName.given(arguments["--operator"]))
        do {
            let standing = try BusCommand.waiting { try await BusCommand.asOperator(request, bus) }
            say("\(standing.personId) is \(standing.status) now.")
        } catch let error as BusError {
            throw CommandError(error)
        }
    }

    /// Stores every phone under the present look-up keys of auth, in batches. It skips phones that are stored under
    /// them already, so an operator can run an interrupted command again.
    private static func rehashPhones(_ arguments: Arguments, _ bus: BusAccess) throws {
        let batch = arguments["--batch"].map { Int64($0) ?? 0 } ?? 500
        guard (1...1000).contains(batch) else {
            throw CommandError.usage("expected vestibule account rehash-phones, and a --batch of 1 to 1000")
        }
        var (sum, next, waits) = (
            PhonesRehashed(people: 0, phones: 0), RehashPhones?.some(RehashPhones(limit: batch)), 0
        )
        while let request = next {
            do {
                let rehashed = try BusCommand.waiting { try await BusCommand.asOperator(request, bus) }
                sum.people += rehashed.people
                sum.phones += rehashed.phones
                sum.left = rehashed.left
                next = rehashed.next.map { RehashPhones(limit: batch, after: $0) }
            } catch let error as BusError where error.code == ErrorCode.overloaded.name && waits < 1000 {
                // Someone is changing one of these numbers at this moment.
                waits += 1
                usleep(200_000)
            } catch let error as BusError {
                throw QuestionnaireCommand.interruption(error, after: request.after == nil ? nil : told(sum))
            }
        }
        say("\(told(sum)) Still under other look-up keys: \(sum.left ?? 0).")
        guard sum.left == 0 else {
            throw CommandError(
                "Some phones are left. Run it again. If that does not help, look for phones_not_opened in auth's log.")
        }
    }

    private static func told(_ sum: PhonesRehashed) -> String {
        "Stored anew: \(sum.phones) phone\(sum.phones == 1 ? "" : "s") of \(sum.people) people."
    }

    private static func backfill(_ arguments: Arguments, _ bus: BusAccess) throws {
        guard let path = arguments["--complete"] else {
            throw CommandError.usage("expected vestibule account backfill --complete FILE")
        }
        // Reads the whole file first: a file with an error changes nothing.
        let people = try PersonFile.batches(of: path, size: BackfillOnboarding.most) { _ in }
        var report = Report()
        do {
            _ = try PersonFile.batches(of: path, size: BackfillOnboarding.most) { batch in
                let request = BackfillOnboarding(userIDs: batch)
                report.add(try BusCommand.waiting { try await BusCommand.asOperator(request, bus) })
            }
        } catch let error as BusError {
            say("\(report.text) Then it stopped. Run the same command again to go on.", to: 2)
            throw CommandError(error)
        }
        say(arguments.has("--json") ? report.json : report.text)
        guard report.unknown == 0 else {
            throw CommandError("\(report.unknown) of \(people) people are unknown; their ids are above", code: 65)
        }
    }

    private struct Report {
        var (done, already, unknown) = (Int64(0), Int64(0), Int64(0))

        /// Prints the unknown ids at once, since there may be too many to keep.
        mutating func add(_ batch: OnboardingBackfilled) {
            (done, already, unknown) = (
                done + batch.done, already + batch.already, unknown + Int64(batch.unknown.count)
            )
            for person in batch.unknown { say("unknown: \(person)", to: 2) }
        }

        var text: String { "Completed: \(done). Already complete: \(already). Unknown: \(unknown)." }
        var json: String {
            let members: JSONValue = [
                "done": .integer(done), "already": .integer(already), "unknown": .integer(unknown),
            ]
            return String(decoding: CanonicalJSON.bytes(of: members), as: UTF8.self)
        }
    }
}

/// A file with a person's id on each line. A line that begins with `#` is a comment. The file may exceed the memory.
enum PersonFile {
    /// - Returns: the number of ids.
    /// - Throws: ``CommandError`` with the number of the first line that is not an id; also what `body` throws.
    static func batches(of path: String, size: Int, _ body: ([Identifier]) throws -> Void) throws -> Int {
        guard let file = fopen(path, "r") else { throw CommandError("\(path) cannot be read", code: 66) }
        defer { fclose(file) }
        var (line, capacity) = (UnsafeMutablePointer<CChar>?.none, 0)
        defer { free(line) }
        var (batch, number, people) = ([Identifier](), 0, 0)
        while getline(&line, &capacity, file) > 0, let line {
            number += 1
            let text = String(cString: line).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            guard let person = Identifier(text.lowercased()) else {
                throw CommandError("\(path), line \(number): expected a person's id, 36 characters", code: 65)
            }
            batch.append(person)
            people += 1
            guard batch.count == size else { continue }
            try body(batch)
            batch = []
        }
        guard ferror(file) == 0 else { throw CommandError("\(path) cannot be read", code: 66) }
        if !batch.isEmpty { try body(batch) }
        return people
    }
}
