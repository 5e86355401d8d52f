import Testing

@testable import VestibuleCLI

@Suite struct ArgumentsTests {
    @Test func optionsFlagsAndOtherWordsAreDistinguished() throws {
        let arguments = try Arguments(
            ["last", "--state", "/a b", "-f", "+4670"], options: ["--state"], flags: ["-f", "--json"], mostWords: 2)
        #expect(arguments["--state"] == "/a b")
        #expect(arguments.has("-f") && !arguments.has("--json"))
        #expect(arguments.rest == ["last", "+4670"])
    }

    @Test(arguments: [["--frob"], ["-x"], ["--state"], ["--state=/tmp"], ["auth"], ["--state", "/a", "auth"]])
    func anUnknownOptionAMissingValueOrAWordTooManyIsWrongUsage(_ words: [String]) {
        let error = #expect(throws: CommandError.self) { try Arguments(words, options: ["--state"]) }
        #expect(error?.code == 64)
    }

    @Test(
        "a wrong verb is reported before any mistake behind it",
        arguments: [
            (["account", "suspnd", "--note"], "suspend PERSON --note TEXT"),
            (["audit", "ls", "--frob"], "verify [SERVICE]"),
            (["bus", "list", "--all"], "drain REPLICA"), (["dead-letters", "ls", "x"], "list, show ID"),
            (["keys", "lst", "--json"], "rotate-signing"),
            (["questionnaire", "remove", "--state", "/x"], "delete-draft KEY DRAFT"),
            (["recovery", "approv", "x"], "approve ID --note TEXT"), (["role", "give"], "grant PERSON ROLE"),
            (["schema", "ls", "--json"], "export DIR"), (["sms", "first", "--json"], "last PHONE"),
            (["email", "first", "--json"], "last ADDRESS"),
        ])
    func aWrongVerb(words: [String], known: String) throws {
        let installation = try Installation()
        defer { installation.remove() }
        let told = try installation.run(words)
        #expect(
            told.code == 64 && told.output.hasPrefix("vestibule: vestibule \(words[0]) has no command \(words[1]): "))
        #expect(told.output.contains(known), "\(told.output)")
        let nothing = try installation.run([words[0]])
        #expect(nothing.code == 64 && nothing.output.hasPrefix("vestibule: vestibule \(words[0]) needs a command: "))
    }

    @Test func aVerbWithAMissingWordNamesTheWordsItTakes() {
        let group = CommandGroup(name: "role", usages: ["ls", "grant PERSON ROLE", "replay ID…", "replay --all"])
        #expect(group.misuse(of: "grant").message == "expected vestibule role grant PERSON ROLE")
        #expect(group.misuse(of: "replay").message == "expected vestibule role replay ID… or replay --all")
        #expect(group.misuse(of: "l").message.hasPrefix("vestibule role has no command l: expected ls, grant"))
    }

    @Test func scaleNamesServicesAndCounts() throws {
        #expect(try UpCommand.parseScale(nil).isEmpty)
        #expect(try UpCommand.parseScale("auth=2,recovery=16") == ["auth": 2, "recovery": 16])
    }

    @Test(arguments: ["auth", "auth=0", "auth=17", "auth=two", "gateway=2", "auth=2=3", "=2"])
    func anImpossibleScaleIsWrongUsage(_ text: String) {
        let error = #expect(throws: CommandError.self) { try UpCommand.parseScale(text) }
        #expect(error?.code == 64)
    }
}
