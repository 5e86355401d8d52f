import BusProtocol
import BusRuntime
import EventLoop

/// Answers a request of an administrator or an operator, and refuses everybody else. It suits answers that take a line
/// or two of code.
package struct AdminHandler<Request: BusRequest>: RequestHandler {
    private let body: @Loop @Sendable (Request, RequestContext) async throws -> Request.Reply

    /// Takes the body to run once the caller is known.
    package init(_ body: @escaping @Loop @Sendable (Request, RequestContext) async throws -> Request.Reply) {
        self.body = body
    }

    @Loop package func handle(_ request: Request, context: RequestContext) async throws -> Request.Reply {
        try context.requireAdmin()
        return try await body(request, context)
    }
}
