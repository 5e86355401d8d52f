import Testing

@testable import VestibuleCLI

@Suite struct ArgumentsTests {
    @Test func optionsFlagsAndTheRestAreToldApart() throws {
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

    @Test func scaleNamesServicesAndCounts() throws {
        #expect(try UpCommand.parseScale(nil).isEmpty)
        #expect(try UpCommand.parseScale("auth=2,recovery=16") == ["auth": 2, "recovery": 16])
    }

    @Test(arguments: ["auth", "auth=0", "auth=17", "auth=two", "gateway=2", "auth=2=3", "=2"])
    func aScaleThatCannotBeIsWrongUsage(_ text: String) {
        let error = #expect(throws: CommandError.self) { try UpCommand.parseScale(text) }
        #expect(error?.code == 64)
    }
}
