import BusProtocol
import Testing

@Suite("Times in messages") struct TimestampTests {
    @Test(
        "a time with any offset is written in UTC to the microsecond",
        arguments: [
            ("2026-02-20T09:00:00+00:00", "2026-02-20T09:00:00Z"),
            ("2026-02-20T09:00:00-00:00", "2026-02-20T09:00:00Z"),
            ("2026-02-20T09:00:00.125+05:30", "2026-02-20T03:30:00.125Z"),
            ("2026-02-20T23:30:00-01:00", "2026-02-21T00:30:00Z"),
            ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
            ("2026-02-20T09:00:00.123456789Z", "2026-02-20T09:00:00.123456Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
        ])
    func offsets(read: String, written: String) throws {
        #expect(try #require(Timestamp(read)).description == written)
    }

    @Test(
        "malformed times are refused",
        arguments: [
            "", "2026-02-20T09:00:00", "2026-02-20 09:00:00Z", "2026-02-30T09:00:00Z", "2026-02-20T09:00:60Z",
            "2026-02-20T09:00:00+1:00", "2026-02-20T09:00:00+01:60", "2026-02-20T09:00:00.+01:00",
            "0001-01-01T00:00:00+00:01", "2026-02-20T09:00:00ZZ", "2026-02-20T09:00:00Z+01:00",
        ])
    func refused(text: String) { #expect(Timestamp(text) == nil) }
}
