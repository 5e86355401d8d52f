import BusRuntime
import Testing

@Suite("Trace context") struct TraceContextTests {
    @Test func keepsTheTraceAndChangesTheSpan() throws {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let trace = try #require(TraceContext(traceparent: text))
        #expect(trace.traceparent == text)
        #expect(trace.child().traceID == trace.traceID && trace.child().spanID != trace.spanID)
        #expect(TraceContext(traceparent: TraceContext.fresh().traceparent) != nil)
    }

    @Test(arguments: [
        "", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
    ]) func refusesHeadersThatTheStandardCallsInvalid(text: String) { #expect(TraceContext(traceparent: text) == nil) }
}
