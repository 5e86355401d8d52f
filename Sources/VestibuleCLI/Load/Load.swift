import EventLoop
import Foundation

/// A load on a system: its people, its connections and its figures.
@Loop final class Load {
    /// People who sign in before the load, and take turns.
    private nonisolated static let memberCount = 64
    /// How many of them sign in at a time. A system would refuse more as overload.
    private nonisolated static let membersAtOnce = 8

    private let plan: LoadPlan
    private let target: sockaddr_in
    private let codes: SpoolTail
    private let pool: LoadPool
    private let book = LoadBook()
    private var members: [LoadMember] = []
    private var people = 0

    /// - Throws: ``CommandError`` if the spool cannot be read.
    init(_ plan: LoadPlan, target: sockaddr_in, spool: String) throws {
        (self.plan, self.target) = (plan, target)
        codes = try SpoolTail("\(spool)/sms.jsonl")
        pool = LoadPool(to: target, most: plan.connections)
    }

    /// Prepares the people, then runs the plan.
    ///
    /// - Parameter showsProgress: whether to keep one line of a terminal up to date.
    /// - Throws: ``CommandError`` if the people cannot sign in.
    func run(showsProgress: Bool) async throws -> LoadReport {
        if plan.scenario.needsPeople { try await signMembersIn() }
        // The first access draws the photo. Draw it now, so that it delays no calls of the load.
        _ = LoadPerson.photo
        let progress = showsProgress ? LoadProgress(plan, book) : nil
        defer { progress?.stop() }
        let span = await LoadRunner.run(plan, book) { index, intended in await self.act(index, since: intended) }
        return LoadReport(
            plan: plan, span: span, actions: book.actions, calls: book.calls, lag: book.lag, waits: pool.waits,
            connections: pool.greatest)
    }

    private func signMembersIn() async throws {
        let pool = LoadPool(to: target, most: Self.membersAtOnce)
        let tasks = (0..<min(Self.memberCount, plan.count)).map { _ in
            let phone = nextPhone()
            return Loop.spawn { try await self.member(phone, pool) }
        }
        do {
            for task in tasks { members.append(try await task.value) }
        } catch {
            throw CommandError("the people of the load could not sign in before it: \(LoadCall.code(of: error))")
        }
    }

    private func member(_ phone: String, _ pool: LoadPool) async throws -> LoadMember {
        let connection = try await pool.take(new: true)
        defer {
            connection.close()
            pool.give(connection)
        }
        return try await LoadPerson(LoadWire(connection, nil)).becomeMember(phone, codes)
    }

    private func nextPhone() -> String {
        people += 1
        return LoadPerson.phone(people)
    }

    /// Carries out an action.
    ///
    /// - Returns: the code of its failure.
    private func act(_ index: Int, since intended: UInt64) async -> String? {
        let member = members.isEmpty ? nil : members[index % members.count]
        switch (plan.scenario.action(at: index), member) {
        case (.read, let member?): return await call("GET /users/me", member.read, since: intended)
        case (.autosave, let member?):
            return await call("PUT answer", member.autosave(index / members.count), since: intended)
        case (.onboarding, _): return await live(since: intended) { try await $0.onboard() }
        default: return await live(since: intended) { _ in }
        }
    }

    /// Makes one call over a connection that others use before and after it.
    private func call(_ name: String, _ request: [UInt8], since intended: UInt64) async -> String? {
        do {
            let answer = try await LoadWire.noted(name, book, since: intended) { () async throws(LoadFailure) in
                let connection = try await self.pool.take()
                defer { self.pool.give(connection) }
                return try await connection.answer(to: request, within: LoadWire.patience)
            }
            return LoadCall.code(of: answer)
        } catch {
            return error.rawValue
        }
    }

    /// Signs a new person in, and runs `body` for that person.
    private func live(since intended: UInt64, _ body: @Loop (LoadPerson) async throws -> Void) async -> String? {
        do {
            let connection = try await pool.take(new: true)
            defer {
                connection.close()
                pool.give(connection)
            }
            let person = LoadPerson(LoadWire(connection, book, since: intended))
            try await person.signIn(nextPhone(), codes)
            try await body(person)
            return nil
        } catch {
            return LoadCall.code(of: error)
        }
    }
}

/// One line of a terminal that shows the progress of a load. It is written again each second.
@Loop final class LoadProgress {
    private let plan: LoadPlan
    private let book: LoadBook
    private var timer: LoopTimer?
    private var (seconds, before) = (0, 0)

    init(_ plan: LoadPlan, _ book: LoadBook) {
        (self.plan, self.book) = (plan, book)
        wait()
    }

    /// Clears the line.
    func stop() {
        timer?.cancel()
        Self.write("")
    }

    private func wait() {
        timer = LoopTimer(after: .seconds(1)) { [weak self] in self?.show() }
    }

    private func show() {
        let actions = book.actions
        seconds += 1
        Self.write(
            """
            \(seconds) s of \(plan.seconds): \(actions.times.count - before) \(plan.scenario.unit)/s, \
            \(book.running) running, p50 \(LoadReport.time(actions.times.quantile(0.5))), \
            p99 \(LoadReport.time(actions.times.quantile(0.99))), \(actions.failed) failed
            """)
        before = actions.times.count
        wait()
    }

    private static func write(_ text: String) {
        let bytes = Array("\r\u{1b}[K\(text)".utf8)
        _ = Foundation.write(1, bytes, bytes.count)
    }
}
