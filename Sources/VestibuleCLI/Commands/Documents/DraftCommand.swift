import BusProtocol
import Foundation
import JSONText

/// The commands about drafts of one kind of document. An administrator can do the same over HTTP.
enum DraftCommand<Client: DocumentClient> {
    private static var name: String { Client.commands.name }

    /// Runs one of the commands that every kind of document has.
    ///
    /// - Returns: whether the first word is one of them.
    static func run(_ words: ArraySlice<String>) throws -> Bool {
        let rest = words.dropFirst()
        switch words.first {
        case "check": try check(rest)
        case "diff": try diff(rest)
        case "import": try load(rest)
        case "publish": try publish(rest)
        case "delete-draft": try delete(rest)
        default: return false
        }
        return true
    }

    // MARK: ls

    /// Lists the versions and drafts of the only document of a kind. The newest version is in use.
    static func list<Kind>(_ words: ArraySlice<String>) throws where Client == SingleDocumentClient<Kind> {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"], mostWords: 0)
        let bus = try BusAccess(state: arguments["--state"])
        let reply = try told { try BusCommand.waiting { try await BusCommand.asOperator(Kind.view(), bus) } }
        if arguments.has("--json") { return say(String(decoding: try WireJSON.encode(reply), as: UTF8.self)) }
        let rows = reply.versions.enumerated().map { place, version in
            ["\(version.version)", place == 0 ? "in use" : "published", RecoveryText.time(version.publishedAt)]
        }
        say(
            TextTable.text(of: [["version", "state", "published"]] + rows) + "\n\n"
                + DraftText.table(of: reply.drafts))
    }

    // MARK: check and diff

    /// Checks a file against the rules. If a system runs, it also checks the file against the data of the system, as
    /// `import` does.
    private static func check(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"], mostWords: 1)
        guard let file = arguments.rest.first else { throw Client.commands.misuse(of: "check") }
        let flags = arguments.has("--json") ? ["--json"] : []
        guard let told = try system(behind: file, state: arguments["--state"]) else {
            return try become(["--check-\(Client.noun)", file] + flags)
        }
        let input = try Subprocess.nameless(String(decoding: CanonicalJSON.bytes(of: told), as: UTF8.self))
        guard dup2(input, 0) == 0 else { throw CommandError("standard input cannot be replaced", code: 73) }
        try become(["--check-\(Client.noun)", file, "--system-from-input"] + flags)
    }

    private static func diff(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, flags: ["--json"], mostWords: 2)
        guard arguments.rest.count == 2 else { throw Client.commands.misuse(of: "diff") }
        try become(["--diff-\(Client.noun)"] + arguments.rest + (arguments.has("--json") ? ["--json"] : []))
    }

    /// - Returns: `nil` if no system runs, or if the file does not name its key.
    private static func system(behind file: String, state: String?) throws -> JSONValue? {
        let environment = ProcessInfo.processInfo.environment
        let isThere =
            try state == nil && environment["BUS_ALLOWED"] != nil
            || RunFile(StateFolder(state, create: false)) != nil
        guard isThere, let data = FileManager.default.contents(atPath: file),
            let document = try? JSONDocument(Array(data), limits: CreateDraft.rules.limits),
            let key = Client.onlyKey ?? document.root["key"]?.string
        else { return nil }
        let bus = try BusAccess(state: state)
        do {
            return try BusCommand.waiting { try await Client.system(for: key, bus) }
        } catch let error as BusError {
            throw CommandError("the running system answered with an error: \(error.code): \(error.detail)")
        }
    }

    /// Replaces this process with the service's program, which has the rules.
    private static func become(_ words: [String]) throws {
        let program = LocalSystem.program(of: Client.service)
        var pointers = ([program] + words).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        execv(program, &pointers)
        throw CommandError.unavailable("\(program) cannot be started: \(String(cString: strerror(errno)))")
    }

    // MARK: import

    /// Makes a draft of a file. It lists every problem that keeps the draft from being published, with its line as a
    /// compiler does.
    private static func load(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], mostWords: 1)
        guard let file = arguments.rest.first else { throw Client.commands.misuse(of: "import") }
        let (document, key) = try read(file)
        let bus = try BusAccess(state: arguments["--state"])
        let (draft, report) = try told {
            try BusCommand.waiting {
                let draft = try await Client.create(document.root.value, of: key, bus)
                return (draft, try await Client.check(String(draft), of: key, bus))
            }
        }
        for line in DraftText.lines(of: report, in: file, JSONPositions(document)) { say(line) }
        say("This is draft \(draft) of \(key).")
        guard report.publishable else {
            throw CommandError(
                "the draft cannot be published: correct the file and import it again", code: 65)
        }
    }

    private static func read(_ file: String) throws -> (document: JSONDocument, key: String) {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandError("\(file) cannot be read", code: 66)
        }
        let document: JSONDocument
        do throws(JSONTextError) {
            document = try JSONDocument(Array(data), limits: CreateDraft.rules.limits)
        } catch {
            throw CommandError.notJSON(Array(data), of: file, error)
        }
        guard let key = Client.onlyKey ?? document.root["key"]?.string else {
            throw CommandError("\(file) has no \"key\", which names the \(name)", code: 65)
        }
        return (document, key)
    }

    // MARK: publish

    /// Makes a draft the next version. The service refuses a change that is graver than the accepted class.
    private static func publish(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state", "--accept"], mostWords: 2)
        let (key, draft) = try draft(arguments, "publish")
        let accepted = arguments["--accept"]
        guard accepted.map({ classes.contains($0) }) ?? true else {
            throw CommandError.usage("--accept takes one of \(classes.joined(separator: ", "))")
        }
        let bus = try BusAccess(state: arguments["--state"])
        let published = try told {
            try BusCommand.waiting { try await Client.publish(draft, of: key, accepting: accepted, bus) }
        }
        for line in DraftText.lines(of: published, key) { say(line) }
    }

    private static var classes: [String] { ["editorial", "additive", "rescore", "reask", "breaking"] }

    // MARK: delete-draft

    private static func delete(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], mostWords: 2)
        let (key, draft) = try draft(arguments, "delete-draft")
        let bus = try BusAccess(state: arguments["--state"])
        try told { try BusCommand.waiting { try await Client.delete(draft, of: key, bus) } }
        say("Draft \(draft) of \(key) is deleted.")
    }

    // MARK: Parts

    /// Reads the key of a document and the number of a draft from the arguments.
    private static func draft(_ arguments: Arguments, _ verb: String) throws -> (key: String, number: String) {
        let words = [Client.onlyKey].compactMap(\.self) + arguments.rest
        guard words.count == 2, let number = Int64(words[1]), number > 0 else {
            throw Client.commands.misuse(of: verb)
        }
        return (words[0], String(number))
    }

    /// Turns a refusal of the service into an error that tells the person what to do.
    private static func told<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as BusError {
            for line in DraftText.lines(of: error) { say(line) }
            let isInvalid = error.code == ErrorCode.definitionInvalid.name
            throw CommandError(summary(of: error), code: isInvalid ? 65 : 1)
        }
    }

    private static func summary(of error: BusError) -> String {
        let sentence = CommandError(error).message
        switch error.code {
        case ErrorCode.changeNotAccepted.name:
            let details = error.details ?? [:]
            let changeClass = details["changeClass"]?.stringValue ?? ""
            return sentence + " The change is \(changeClass). It affects \(Client.affected(details)). "
                + "To publish it anyway, add --accept \(changeClass)."
        case ErrorCode.definitionInvalid.name:
            return sentence + " Correct the file, import it again and publish that draft."
        case ErrorCode.notFound.name:
            return sentence
                + " vestibule \(name) ls\(Client.onlyKey == nil ? " KEY" : "") lists the drafts, and vestibule \(name) "
                + "import FILE makes one."
        default: return sentence
        }
    }
}
