import Foundation

/// What an author does with a definition before anybody is asked it. The rules are questionnaire's own: its program is
/// started in place of this one, and reads the files where no system runs and no database is.
enum QuestionnaireCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, flags: ["--json"], mostWords: 3)
        let flags = arguments.has("--json") ? ["--json"] : []
        switch (arguments.rest.first, arguments.rest.count) {
        case ("check", 2): try become(["--check-definition"] + arguments.rest.dropFirst() + flags)
        case ("diff", 3): try become(["--diff-definitions"] + arguments.rest.dropFirst() + flags)
        default: throw CommandError.usage("expected vestibule questionnaire check FILE or diff OLD NEW")
        }
    }

    private static func become(_ words: [String]) throws {
        let program = LocalSystem.binary(LocalSystem.programs["questionnaire"] ?? "questionnaire")
        var pointers = ([program] + words).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        execv(program, &pointers)
        throw CommandError.unavailable("\(program) cannot be started: \(String(cString: strerror(errno)))")
    }
}
