import Foundation
import Testing

@testable import VestibuleCLI

@Suite struct StateFolderTests {
    private static func withFolder(_ body: (StateFolder) throws -> Void) throws {
        let state = try StateFolder("/tmp/vestibule-test-\(UUID().uuidString)")
        defer {
            try? FileManager.default.removeItem(atPath: state.path)
            try? FileManager.default.removeItem(atPath: state.sockets)
        }
        try body(state)
    }

    @Test func oneProcessHasTheLock() throws {
        try Self.withFolder { state in
            #expect(!state.isInUse)
            let lock = try state.lock()
            #expect(state.isInUse)
            #expect(throws: CommandError.self) { try state.lock() }
            close(lock)
            #expect(!state.isInUse)
        }
    }

    @Test func aLeftoverRunFileNamesNoRunningSystem() throws {
        try Self.withFolder { state in
            // Its process ID belongs to a living process, as may happen when the system reuses IDs.
            let file = "{\"pid\":\(getpid()),\"http\":\"127.0.0.1:1\",\"processes\":[]}"
            try StateFolder.write(file, to: state.runFile, mode: 0o600)
            #expect(RunFile(state) == nil)
            let lock = try state.lock()
            defer { close(lock) }
            #expect(RunFile(state) == nil, "whoever has the lock has said nothing yet")
            try StateFolder.write(file, to: state.runFile, mode: 0o600)
            #expect(RunFile(state)?.address == "127.0.0.1:1")
        }
    }

    @Test func aRenewedKeyKeepsThePermissionsOfTheFormerOne() throws {
        try Self.withFolder { state in
            let keys = BusKeyFolder(path: state.keys)
            func mode() throws -> Int {
                let attributes = try FileManager.default.attributesOfItem(atPath: keys.secret(of: "profile"))
                return attributes[.posixPermissions] as? Int ?? 0
            }
            try keys.makeMissing()
            #expect(try mode() == 0o400)
            try keys.renew("profile")
            #expect(try mode() == 0o400)
            // As deploy/make-secrets makes it, for a container's own user.
            #expect(chmod(keys.secret(of: "profile"), 0o444) == 0)
            try keys.renew("profile")
            #expect(try mode() == 0o444)
        }
    }

    @Test func aCommandFailsWhoseOutputIsNotWritten() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let command = Process()
        command.executableURL = URL(filePath: installation.vestibule)
        command.arguments = ["--help"]
        command.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        command.standardError = FileHandle.nullDevice
        try command.run()
        command.waitUntilExit()
        #expect(command.terminationStatus == 74)
    }

    /// One command adds keys, and the other removes one after the other. Neither writes back what the other changed.
    @Test func twoCommandsChangeTheListOfKeysAtTheSameTime() async throws {
        let state = try StateFolder("/tmp/vestibule-test-\(UUID().uuidString)")
        defer {
            try? FileManager.default.removeItem(atPath: state.path)
            try? FileManager.default.removeItem(atPath: state.sockets)
        }
        let keys = BusKeyFolder(path: state.keys)
        try keys.makeMissing()
        let old = try keys.allowed()
        async let renewed: Void = Task.detached { for _ in 0..<50 { try keys.renew("profile") } }.value
        async let revoked: Void = Task.detached {
            for known in old { try KeysCommand.run(["revoke", known.key, "--keys", state.keys]) }
        }.value
        _ = try await (renewed, revoked)
        let left = try keys.allowed()
        #expect(left.count == 50)
        #expect(left.allSatisfy { $0.name == "profile" } && Set(left.map(\.key)).isDisjoint(with: old.map(\.key)))
    }

    /// Somebody else may have made the folder of sockets first, since its name can be guessed.
    @Test(.enabled(if: getuid() == 0)) func aFolderOfSocketsOfAnotherUserIsRefused() throws {
        try Self.withFolder { state in
            #expect(chown(state.sockets, 65534, 65534) == 0)
            for create in [true, false] {
                let error = #expect(throws: CommandError.self) { try StateFolder(state.path, create: create) }
                #expect(error?.code == 73)
            }
        }
    }

    /// What `keys renew` prints is to be typed, wherever the folder is.
    @Test func aPrintedPathIsOneWordToAShell() throws {
        for text in ["/var/lib/keys", "a b", "it's", "$HOME;ls", "", "Å", "~/keys", "*"] {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", "printf '%s|' \(KeysCommand.word(text)) end"]
            let output = Pipe()
            shell.standardOutput = output
            try shell.run()
            let printed = output.fileHandleForReading.readDataToEndOfFile()
            shell.waitUntilExit()
            #expect(String(decoding: printed, as: UTF8.self) == "\(text)|end|")
        }
    }

    @Test func aFoldersModeStaysAndFileModesIgnoreTheUmask() throws {
        try Self.withFolder { state in
            func mode(_ file: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            }
            #expect(try mode(state.path) == 0o711)
            #expect(chmod(state.path, 0o755) == 0)
            _ = try StateFolder(state.path)
            #expect(try mode(state.path) == 0o755)
            let former = umask(0o077)
            defer { umask(former) }
            try StateFolder.write("public", to: "\(state.keys)/list", mode: 0o444)
            #expect(try mode("\(state.keys)/list") == 0o444)
        }
    }

    @Test func downReportsAStartingSystem() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let lock = try installation.state.lock()
        let early = try installation.run("down", "--state", installation.state.path)
        #expect(early.code == 1 && early.output.contains("a system is starting from \(installation.state.path)"))
        close(lock)
        let late = try installation.run("down", "--state", installation.state.path)
        #expect(late.code == 0 && late.output == "Nothing runs from \(installation.state.path).\n")
    }

    @Test func secretsAreMadeOnceAndReadableByTheirOwnerOnly() throws {
        try Self.withFolder { state in
            try state.ensureKeys()
            let (password, ring) = (
                try state.password("auth"), try String(contentsOfFile: state.keyRing("auth"), encoding: .utf8)
            )
            try state.ensureKeys()
            #expect(try state.password("auth") == password)
            #expect(try String(contentsOfFile: state.keyRing("auth"), encoding: .utf8) == ring)
            for file in ["auth.keys", "auth.password"] {
                let mode = try FileManager.default.attributesOfItem(atPath: "\(state.keys)/\(file)")[.posixPermissions]
                #expect(mode as? Int == 0o400)
            }
        }
    }

    @Test func theSpoolSkipsAnIncompleteLine() throws {
        try Self.withFolder { state in
            let file = "\(state.spool)/sms.jsonl"
            #expect(Spool(file: file).lines().isEmpty)
            try StateFolder.write(
                "{\"to\":\"+1\",\"body\":\"a\"}\n{\"to\":\"+2\",\"body\":\"b\"}\n{\"to\":\"+1\",\"bo", to: file,
                mode: 0o600)
            #expect(Spool(file: file).lines().count == 2)
            #expect(try Spool(file: file).wait(for: "it") { $0["to"] == "+1" }["body"] == "a")
        }
    }
}
