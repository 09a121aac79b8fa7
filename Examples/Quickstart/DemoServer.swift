import Foundation
import InterceptorsTesting

/// A real server on loopback. Its API requires a bearer token and wraps each payload in an envelope, as in-house APIs do.
func startDemoServer() throws -> MockServer {
    let server = try MockServer()
    server.on(.post, "/v1/token") { _ in
        .json(#"{"token":"fresh-token"}"#)
    }
    server.on(.get, "/v1/users/*") { request in
        guard request.headers[.authorization] == "Bearer fresh-token" else {
            return .status(401, headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])
        }
        guard request.path.hasSuffix("/42") else {
            return .json(#"{"code":404,"object":null,"message":"There is no such user."}"#)
        }
        return .json(#"{"code":200,"object":{"id":42,"name":"Ada Lovelace"},"message":"OK"}"#)
    }
    return server
}
