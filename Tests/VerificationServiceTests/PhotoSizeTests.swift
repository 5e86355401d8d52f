import BusProtocol
import EventLoop
import Foundation
import ServiceRuntime
import TestSupport
import Testing

@testable import VerificationService

@Suite("smaller sizes of photos") @Loop struct PhotoSizeTests {
    @Test func anApprovedPhotoIsServedInTheSizeThatIsAskedFor() async throws {
        try await MediaStage.run(variables: Sized.real) { media in
            let url = try await media.placed(Sized.photo)
            let early = try await media.get(url)
            #expect(early.status == 200)
            try await media.untilSized()
            let original = try await media.get(url)
            #expect(original.body == early.body && original.headers["etag"] == early.headers["etag"])
            // The photo lies on its side and is turned upright.
            for (name, expected) in [("small", [213, 320]), ("medium", [640, 960])] {
                let sized = try await media.get("\(url)&size=\(name)")
                #expect(sized.status == 200 && sized.headers["content-type"] == "image/jpeg")
                #expect(try Sized.sides(of: sized.body) == expected)
                #expect(sized.body.count < original.body.count)
                #expect(sized.body.firstRange(of: Array("Exif".utf8)) == nil)
                #expect(sized.headers["cache-control"] == "private, no-cache")
                let tag = try #require(sized.headers["etag"])
                #expect(tag != original.headers["etag"])
                #expect(try await media.get("\(url)&size=\(name)", ifNoneMatch: tag).status == 304)
                #expect(try await media.get("\(url)&size=\(name)", ifNoneMatch: original.headers["etag"]).status == 200)
            }
            #expect(try await media.get("\(url)&size=huge").body == original.body)
            #expect(try await media.get(url.replacing("expires=1", with: "expires=2") + "&size=small").status == 403)
            #expect(media.stage.log.text.contains(#""event":"photo_sizes_made""#))
            #expect(media.stage.containers[0].ownGauges()["photo_sizes"] == 1)
        }
    }

    @Test func aSizeThatIsChangedOnTheDiskGivesWayToThePhoto() async throws {
        try await MediaStage.run(variables: Sized.real) { media in
            let url = try await media.placed(Sized.photo)
            try await media.untilSized()
            let file = try #require(media.files.first { $0.hasSuffix(".small") })
            try Data("no sealed bytes".utf8).write(to: URL(filePath: "\(media.folder.path)/\(file)"))
            #expect(try await media.get("\(url)&size=small").body == media.get(url).body)
            #expect(media.stage.log.text.contains("photo_size_unreadable"))
        }
    }

    @Test func twoReplicasDoNotMixTheBytesOfOneSize() throws {
        let scratch = try ScratchFolder()
        let folder = MediaFolder(path: scratch.path)
        let name = BlobName(.random(), .small)
        try folder.write([1, 2, 3], name)
        let unfinished = "\(scratch.path)/\(name.media.description.suffix(2))/\(name).part"
        let other = open(unfinished, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(other >= 0 && flock(other, LOCK_EX) == 0)
        #expect(throws: MediaFolder.Failure.self) { try folder.write([4, 5], name) }
        // The other replica is killed, and leaves what it has written.
        #expect(pwrite(other, [9, 9, 9, 9], 4, 0) == 4 && close(other) == 0)
        #expect(try folder.read(name) == [1, 2, 3])
        try folder.write([4, 5], name)
        #expect(try folder.read(name) == [4, 5])
    }

    @Test func anUnapprovedPhotoHasNoSizes() async throws {
        let variables = Sized.real.merging(["VERIFICATION_MODERATION": "staff"]) { $1 }
        try await Verifying.run(variables: variables) { verifying in
            let media = verifying.media
            let url = try await media.placed(Sized.photo)
            let sizing = media.sizing(by: ConfinedProgram(Sized.program))
            try await sizing.round()
            #expect(media.files.count == 2)
            let photo = try #require(Identifier(try await media.stage.rows("SELECT media_id FROM media")))
            let decision = DecidePhoto(mediaId: photo, verdict: "approved")
            _ = try await verifying.ask(decision, .random(), role: .staff, key: "a decision of staff")
            try await media.untilSized()
            #expect(try await Sized.sides(of: media.get("\(url)&size=small").body) == [213, 320])
        }
    }

    @Test func aSizeThatIsNoShorterThanThePhotoIsNotKept() async throws {
        try await MediaStage.run(variables: Sized.real) { media in
            let url = try await media.placed(MediaStage.picture, type: "image/png")
            try await media.untilSized()
            #expect(try await media.get("\(url)&size=small").headers["content-type"] == "image/png")
            #expect(media.files.count == 2)
        }
    }

    @Test func withoutTheProgramThePhotoIsServedUnsizedAndAWarningLogged() async throws {
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            let url = try await media.placed(Sized.photo)
            #expect(try await eventually { media.stage.log.text.contains("photo_sizes_not_made") })
            #expect(media.stage.log.text.contains(#""error":"no_program""#))
            #expect(media.stage.containers[0].ownGauges()["photo_sizes"] == 0)
            let (plain, sized) = (try await media.get(url), try await media.get("\(url)&size=small"))
            #expect(sized.status == 200 && sized.body == plain.body && sized.headers["etag"] == plain.headers["etag"])
            // Once the program is there, what was waiting is made.
            try await media.sizing(by: ConfinedProgram(Sized.program)).round()
            #expect(try await Sized.sides(of: media.get("\(url)&size=small").body) == [213, 320])
        }
    }

    @Test(arguments: ["exec /usr/bin/sleep 60", "while true; do true; done"])
    func aHangingProgramIsTriedThreeTimes(script: String) async throws {
        #expect(ConfinedProgram("").limit == .seconds(5))
        try await failing(script, error: "too_slow") { media, sizing in
            for attempt in 1..<PhotoSizing.mostAttempts {
                await #expect(throws: ConfinedProgram.Failure("too_slow")) { try await sizing.round() }
                #expect(try await media.stage.rows("SELECT sizes_attempts FROM media") == "\(attempt)")
                try await sizing.round()
                #expect(!media.stage.log.text.contains("photo_size_failed"), "it is not due yet")
                try await media.makeSizesDue()
            }
        }
    }

    @Test(arguments: [("exit 3", "exit_3"), ("echo no picture", "ImageError"), ("/usr/bin/cat; true", "exit_254")])
    func aProgramThatFailsCostsTheSizeAlone(script: String, error: String) async throws {
        try await failing(script, error: error) { _, _ in }
    }

    /// Sees that a photo is served without sizes once the last attempt at them failed.
    private func failing(
        _ script: String, error: String,
        before: @escaping @Loop @Sendable (MediaStage, PhotoSizing) async throws -> Void
    ) async throws {
        let folder = try ScratchFolder()
        let program = try folder.script("tool", "[ \"$1\" = --version ] && exit 0\n\(script)")
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            let url = try await media.placed(Sized.photo)
            let sizing = media.sizing(by: ConfinedProgram(program, limit: .milliseconds(300)))
            try await before(media, sizing)
            try await sizing.round()
            #expect(media.stage.log.text.contains(#""error":"\#(error)","event":"photo_size_failed""#))
            #expect(try await media.stage.rows("SELECT count(*) FROM media WHERE sizes_due_at IS NULL") == "1")
            let (plain, sized) = (try await media.get(url), try await media.get("\(url)&size=medium"))
            #expect(sized.status == 200 && sized.body == plain.body)
            #expect(media.files.count == 2)
        }
    }

    @Test func aPictureThatKillsThreeReplicasIsAbandoned() async throws {
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            _ = try await media.placed(Sized.photo)
            let photos = PhotoStore(media: media.store, keys: media.stage.containers[0].keys)
            for attempt in 1...PhotoSizing.mostAttempts {
                #expect(try await photos.claimUnsized()?.attempt == attempt)
                try await media.makeSizesDue()
            }
            try await media.sizing(by: ConfinedProgram(Sized.program)).round()
            #expect(media.stage.log.text.contains("photo_sizes_given_up") && media.files.count == 2)
            #expect(try await photos.claimUnsized() == nil)
            try await media.makeSizesDue()
            #expect(try await photos.claimUnsized() == nil, "for good")
        }
    }

    @Test func aStoreOfBytesThatFailsCostsNoAttempt() async throws {
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            _ = try await media.placed(Sized.photo)
            let bytes = try #require(media.files.first { $0.hasPrefix("blobs") })
            let obstacle = "\(media.folder.path)/\(bytes).small"
            try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
            let sizing = media.sizing(by: ConfinedProgram(Sized.program))
            await #expect(throws: (any Error).self) { try await sizing.round() }
            #expect(try await media.stage.rows("SELECT sizes_attempts FROM media") == "0")
            try FileManager.default.removeItem(atPath: obstacle)
            try await media.makeSizesDue()
            try await sizing.round()
            #expect(media.files.filter { $0.hasSuffix(".small") || $0.hasSuffix(".medium") }.count == 2)
        }
    }

    @Test func aCorruptPhotoIsLoggedAndNotRetried() async throws {
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            _ = try await media.placed(Sized.photo)
            let name = try #require(media.files.first { $0.hasPrefix("blobs") })
            let bytes = URL(filePath: "\(media.folder.path)/\(name)")
            var changed = try Data(contentsOf: bytes)
            changed[changed.count / 2] ^= 1
            try changed.write(to: bytes)
            try await media.sizing(by: ConfinedProgram(Sized.program)).round()
            #expect(media.stage.log.text.contains(#""event":"photo_unreadable""#))
            #expect(try await media.stage.rows("SELECT count(*) FROM media WHERE sizes_due_at IS NULL") == "1")
            #expect(media.files.count == 2)
        }
    }

    @Test func theNewestPhotoGetsItsSizesFirst() async throws {
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            let people = [Identifier.random(), .random(), .random()]
            var expected: [Identifier?] = []
            for (age, person) in zip([10, 5, 20], people) {
                _ = try await media.placed(Sized.photo, of: person)
                let photo = try #require(try await media.ask(GetPhotos(), person).photos.first?.mediaId)
                try await media.stage.rows(
                    "UPDATE media SET sizes_due_at = now() - interval '\(age) minutes' WHERE media_id = '\(photo)'")
                expected.append(photo)
            }
            let photos = PhotoStore(media: media.store, keys: media.stage.containers[0].keys)
            for index in [1, 0, 2] { #expect(try await photos.claimUnsized()?.media == expected[index]) }
        }
    }

    @Test(arguments: [
        ("signal_9", true), ("too_slow", true), ("no_child", true), ("no_memory", true), ("no_program", true),
        ("exit_1", false), ("signal_24", false), ("signal_11", false),
    ]) func someFailuresAreBlamedOnTheMachineAndRetried(reason: String, isPassing: Bool) {
        #expect(ConfinedProgram.Failure(reason).isPassing == isPassing)
    }

    @Test func theChildReachesNothingButThePicture() async throws {
        let (folder, server) = (try ScratchFolder(), try ProviderServer(.hangs))
        let port = try #require(URLComponents(string: server.url)?.port)
        try Data("a secret".utf8).write(to: URL(filePath: folder.path + "/key"))
        let leaked = (0..<40).map { _ in open("/dev/null", O_RDONLY) }
        defer { for descriptor in leaked { close(descriptor) } }
        setenv("VERIFICATION_TEST_SECRET", "a secret", 1)
        defer { unsetenv("VERIFICATION_TEST_SECRET") }
        let program = try folder.script(
            "tool",
            """
            export -p
            for number in {0..255}; do { true <&$number; } 2>&1 && echo "descriptor $number"; done
            { read -r key <\(folder.path)/key; } 2>&1 && echo "reached: a key"
            { read -r line </proc/$PPID/environ; } 2>&1 && echo "reached: variables of the service"
            { read -r line </proc/self/environ; } 2>&1 && echo "reached: /proc"
            { read -r line </etc/passwd; } 2>&1 && echo "reached: /etc"
            { echo x >\(folder.path)/new; } 2>&1 && echo "reached: a folder"
            { exec 5<>/dev/tcp/127.0.0.1/\(port); } 2>&1 && echo "reached: the network"
            { kill -0 $PPID; } 2>&1 && echo "reached: the service"
            read -r picture
            echo "picture: $picture"
            ulimit -c; ulimit -t; ulimit -Ht; ulimit -v; ulimit -f; ulimit -n
            """)
        let said = String(
            decoding: try await ConfinedProgram(program).run([], on: Array("pixels\n".utf8)), as: UTF8.self)
        let lines = said.split(separator: "\n").map(String.init)
        #expect(!said.contains("reached") && !said.contains("a secret"))
        let variables = lines.filter { $0.hasPrefix("declare -x") }.map { $0.dropFirst(11).prefix { $0 != "=" } }
        #expect(Set(variables).isSubset(of: ["OLDPWD", "PWD", "SHLVL"]), "the shell makes these itself")
        let descriptors = lines.filter { $0.hasPrefix("descriptor ") }.compactMap { Int($0.dropFirst(11)) }
        #expect(
            Set(descriptors).subtracting([10, 31]) == [0, 1, 2], "the shell keeps its script and a place of its own")
        #expect(lines.contains("picture: pixels"))
        #expect(lines.suffix(6) == ["0", "5", "6", "1048576", "4096", "32"])
        #expect(server.requests.isEmpty && !FileManager.default.fileExists(atPath: folder.path + "/new"))
        await server.stop()
        let twins = try folder.script("twins", "( echo a process of its own )")
        await #expect(throws: ConfinedProgram.Failure("exit_254")) { try await ConfinedProgram(twins).run([]) }
    }

    @Test func theChildChangesNoFileAndReachesNoProcessByAnyCall() async throws {
        let folder = try ScratchFolder()
        let key = folder.path + "/key"
        try Data("a secret".utf8).write(to: URL(filePath: key))
        let before = try FileManager.default.attributesOfItem(atPath: key)
        // The numbers of the last two are the same on each machine.
        let program = try folder.script(
            "tool",
            #"""
            exec /usr/bin/python3 -IS -c '
            import ctypes, errno, fcntl, os, termios
            C, key, parent = ctypes.CDLL(None, use_errno=True), "\#(key)", os.getppid()
            input = os.open("/usr/bin/python3", os.O_RDONLY)
            for call in r"""
                os.chmod(key, 0o604)
                os.fchmod(input, 0o755)
                os.chown(key, os.getuid(), os.getgid())
                os.lchown(key, os.getuid(), os.getgid())
                os.fchown(input, os.getuid(), os.getgid())
                os.utime(key, (1, 1))
                os.truncate(key, 0)
                os.open(key, os.O_RDONLY | os.O_TRUNC)
                os.open(key, 3 | os.O_TRUNC)
                os.setxattr(key, "user.x", b"x")
                os.removexattr(key, "user.x")
                os.rename(key, key + "2")
                os.link(key, key + "2")
                os.unlink(key)
                os.kill(parent, 0)
                os.setpriority(os.PRIO_PROCESS, parent, 1)
                os.sched_setaffinity(parent, os.sched_getaffinity(0))
                os.sched_setscheduler(parent, os.SCHED_OTHER, os.sched_param(0))
                os.setsid()
                os.fork()
                os.setuid(os.getuid())
                fcntl.fcntl(input, fcntl.F_SETOWN, parent)
                fcntl.fcntl(input, 10, 15)
                fcntl.fcntl(input, 15, b"\x02\0\0\0" + parent.to_bytes(4, "little"))
                fcntl.ioctl(input, termios.FIOASYNC, b"\x01\0\0\0")
                fcntl.ioctl(input, termios.FIONBIO, b"\0\0\0\0")
                C.prctl(1, 0, 0, 0, 0)
                C.semget(0, 1, 0o600)
                C.semop(0, None, 0)
                C.semctl(0, 0, 0)
                C.shmctl(0, 2, None)
                C.msgrcv(0, None, 0, 0, 0o4000)
                C.msgctl(0, 2, None)
                C.mq_unlink(b"/x")
                C.syscall(424, parent, 0, None, 0)
                C.syscall(452, -100, key.encode(), 0o604, 0)
            """.split("\n"):
                if not call.strip(): continue
                try: reason = ctypes.get_errno() if eval(call.strip()) == -1 else 0
                except OSError as error: reason = error.errno
                isRefused = reason in [errno.EPERM, errno.EACCES, errno.EXDEV, errno.ENOSYS, errno.ENOTTY]
                print("refused" if isRefused else f"{reason} {call.strip()}")
            '
            """#)
        let said = String(decoding: try await ConfinedProgram(program).run([]), as: UTF8.self)
        #expect(Set(said.split(separator: "\n")) == ["refused"] && said.split(separator: "\n").count == 36)
        let after = try FileManager.default.attributesOfItem(atPath: key)
        #expect(try String(contentsOfFile: key, encoding: .utf8) == "a secret")
        #expect(after[.modificationDate] as? Date == before[.modificationDate] as? Date)
        #expect(after[.posixPermissions] as? Int == before[.posixPermissions] as? Int)
    }

    @Test func theSizesEndWithTheKeyOfThePhoto() async throws {
        try await MediaStage.run(variables: Sized.real) { media in
            let person = Identifier.random()
            _ = try await media.placed(Sized.photo, of: person)
            try await media.untilSized()
            let photo = try #require(try await media.ask(GetPhotos(), person).photos.first?.mediaId)
            #expect(media.files.count == 4 && media.files.filter { $0.hasPrefix("keys") }.count == 1)
            // A JPEG begins with three bytes, and then one of these. Three alone are among so many at random once in 170 runs.
            for marker: UInt8 in [0xe0, 0xe1, 0xdb] {
                #expect(media.bytes.firstRange(of: [0xff, 0xd8, 0xff, marker]) == nil, "all of them are encrypted")
            }
            // Whatever is left of a photo without its key is nothing.
            let vault = media.vault
            let key = "\(media.folder.path)/\(media.files.filter { $0.hasPrefix("keys") }[0])"
            let bytes = try #require(FileManager.default.contents(atPath: key))
            try FileManager.default.removeItem(atPath: key)
            #expect(try await vault.get(photo, .profilePhoto, .small) == nil)
            #expect(try await !vault.put([1], photo, .small))
            try bytes.write(to: URL(filePath: key))
            _ = try await media.ask(DeletePhoto(mediaId: photo), person)
            try await media.untilDestroyed()
            #expect(media.files.isEmpty)
        }
    }

    @Test func aPhotoThatIsRemovedWhileItsSizesAreMadeLeavesNothing() async throws {
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            let person = Identifier.random()
            _ = try await media.placed(Sized.photo, of: person)
            let photos = PhotoStore(media: media.store, keys: media.stage.containers[0].keys)
            let photo = try #require(try await photos.claimUnsized()).media
            #expect(try await photos.claimUnsized() == nil, "no other replica gets it meanwhile")
            _ = try await media.ask(DeletePhoto(mediaId: photo), person)
            try await media.untilDestroyed()
            // It was written after the destruction.
            try MediaFolder(path: media.blobs).write([1, 2, 3], BlobName(photo, .small))
            #expect(media.files.count == 1)
            #expect(try await !photos.noteSizes(of: photo))
            try await media.vault.removeSizes(of: photo)
            #expect(media.files.isEmpty)
        }
    }

    @Test func aSizeThatNoRowKnowsIsDestroyed() async throws {
        try await MediaStage.run(variables: [Sized.variable: "/nowhere/vipsthumbnail"]) { media in
            let folder = MediaFolder(path: media.blobs)
            for size in PhotoSize.allCases { try folder.write([1], BlobName(.random(), size)) }
            for file in media.files {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -7200)],
                    ofItemAtPath: "\(media.folder.path)/\(file)")
            }
            #expect(
                try await eventually {
                    media.stage.containers[0].hurry()
                    return media.files.isEmpty
                })
        }
    }

    @Test func namesOfBytesAreRead() {
        let id = Identifier.random()
        #expect(BlobName(id).description == "\(id)" && BlobName(id, .small).description == "\(id).small")
        for name in ["\(id)", "\(id).part", "\(id).small", "\(id).medium.part", "\(id).of a later release"] {
            #expect(BlobName.media(of: name) == id)
        }
        for name in ["database", "", ".", ".small", "\(id)small"] { #expect(BlobName.media(of: name) == nil) }
    }
}

/// A process that makes sizes is killed in the middle.
@Suite("smaller sizes of photos, and kill -9", .serialized) @Loop struct PhotoSizeKillTests {
    @Test func aKilledServiceLeavesNoChildAndSizesAreMadeLater() async throws {
        let folder = try ScratchFolder()
        let patience = "600.\(UInt32.random(in: 1...UInt32.max))"
        let hanging = try folder.script("tool", "[ \"$1\" = --version ] || exec /usr/bin/sleep \(patience)")
        try await MediaStage.run(replicas: 0, variables: Sized.real) { media in
            let environment = media.stage.environment.merging(
                ["LOG_LEVEL": "error", Sized.variable: hanging]) { $1 }
            let victim = try ServiceProgram("VerificationService", environment)
            let person = Identifier.random()
            #expect(try await eventually { (try? await media.ask(GetPhotos(), person)) != nil })
            _ = try await media.placed(Sized.photo, of: person)
            #expect(try await eventually { Sized.isRunning(patience) })
            victim.killAtOnce()
            #expect(try await eventually { !Sized.isRunning(patience) })
            #expect(media.files.count == 2, "the key and the photo")
            try await media.stage.addReplica()
            try await media.stage.untilReady()
            try await media.makeSizesDue()
            try await media.untilSized()
            #expect(media.files.count == 4)
            _ = try await media.ask(PutPhotos(photos: []), person)
            try await media.untilDestroyed()
            #expect(media.files.isEmpty)
        }
    }
}

/// What the tests of sizes share.
private enum Sized {
    static let variable = "VERIFICATION_VIPSTHUMBNAIL"
    static let program = "/usr/bin/vipsthumbnail"
    static let real = [variable: program]

    /// A JPEG of 1500 by 1000 pixels that a phone took on its side.
    static let photo: [UInt8] = {
        let (width, height) = (1500, 1000)
        var pixels = Array("P6 \(width) \(height) 255\n".utf8)
        for row in 0..<height {
            for column in 0..<width {
                pixels += [UInt8(column * 255 / width), UInt8(row * 255 / height), UInt8((column ^ row) & 0xff)]
            }
        }
        let jpeg = (try? JPEGTools().run("cjpeg", ["-quality", "90"], on: pixels)) ?? []
        let exif =
            Array("Exif\0\0II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        return jpeg.prefix(2) + [0xff, 0xe1, 0, UInt8(exif.count + 2)] + exif + jpeg.dropFirst(2)
    }()

    /// Width and height, as djpeg sees them.
    static func sides(of jpeg: [UInt8]) throws -> [Int] {
        let pixels = try JPEGTools().run("djpeg", [], on: jpeg)
        return String(decoding: pixels.prefix(20), as: UTF8.self).split(separator: "\n")[1].split(separator: " ")
            .compactMap { Int($0) }
    }

    /// Whether a process has this among its arguments.
    static func isRunning(_ argument: String) -> Bool {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.contains { process in
            Int(process) != nil
                && FileManager.default.contents(atPath: "/proc/\(process)/cmdline").map {
                    String(decoding: $0, as: UTF8.self).hasSuffix("\0\(argument)\0")
                } == true
        }
    }
}

extension ScratchFolder {
    /// A script that can be run; its path.
    fileprivate func script(_ name: String, _ text: String) throws -> String {
        let path = "\(path)/\(name)"
        try "#!/bin/bash\n\(text)\n".write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return path
    }
}

extension MediaStage {
    /// A person's one photo; its address.
    fileprivate func placed(
        _ picture: [UInt8], of person: Identifier = .random(), type: String = "image/jpeg"
    ) async throws -> String {
        let upload = try await promised(person, length: picture.count, type: type)
        try #require(try await send(picture, to: upload.uploadUrl, type: type).status == 204)
        return try #require(try await ask(PutPhotos(photos: [upload.mediaId]), person).photos.first?.url)
    }

    /// Waits until no sizes are due any more.
    fileprivate func untilSized() async throws {
        let done = try await eventually {
            stage.containers[0].hurry()
            return try await stage.rows("SELECT count(*) FROM media WHERE sizes_due_at IS NOT NULL") == "0"
        }
        #expect(done)
    }

    /// Ends the pause between two attempts.
    fileprivate func makeSizesDue() async throws {
        try await stage.rows("UPDATE media SET sizes_due_at = now() WHERE sizes_due_at IS NOT NULL")
    }

    /// What makes sizes, with a program of the test.
    fileprivate func sizing(by program: ConfinedProgram) -> PhotoSizing {
        let container = stage.containers[0]
        return PhotoSizing(
            photos: PhotoStore(media: store, keys: container.keys), vault: vault, program: program,
            log: container.log, statistics: VerificationStatistics(container.database))
    }
}
