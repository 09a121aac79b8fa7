public import InterceptorsTransport

/// The limits on interceptors for one request: whether they may store, compress or resend it.
///
/// The code that makes a request sets them, so that no interceptor needs to know the request's purpose. `Client.events`, for example,
/// forbids a cache to store the stream, and lets `limitConcurrency` release its permit early.
public struct CallShape: Sendable {
    /// Whether a cache may answer the request, if its method is safe, and store the response.
    public var mayStore = true
    /// Whether an interceptor may compress the content.
    public var mayCompress = true
    /// Whether the method or an `Idempotency-Key` may make the request idempotent. If `false`, no interceptor sends the request again
    /// after the server may have acted on it.
    public var mayResend = true
    /// Whether an interceptor may add an `Idempotency-Key`.
    public var mayGetIdempotencyKey = true
    /// Whether `limitConcurrency` releases the request's permit at the end of the response's body, and not at its head.
    public var holdsPermitUntilEnd = true
    /// Whether a response such as 429 proves that the server has kept nothing of the content.
    public var refusalMeansNothingKept = true
    /// Returns whether the server has already acted on the request, so that sending it again would act twice.
    public var hasTakenEffect: (@Sendable () -> Bool)?
    /// Called before the same content is sent again because the server has refused or redirected the request.
    public var willResend: (@Sendable () -> Void)?
    /// The number of the call, if the call may send several requests.
    package var call: CallNumber?

    /// The shape of a usual request: every interceptor may do its work.
    public init() {}

    /// A response that may last for hours: no cache stores it, and the permit is released at its head, so that a few streams don't stop
    /// all other requests.
    public static var liveStream: Self {
        var shape = Self()
        shape.mayStore = false
        shape.holdsPermitUntilEnd = false
        return shape
    }
}

extension HTTPContext {
    private enum ShapeKey: HTTPContextKey { static var defaultValue: CallShape { CallShape() } }

    /// On a request: the limits on interceptors.
    public var callShape: CallShape {
        get { self[ShapeKey.self] }
        set { self[ShapeKey.self] = newValue }
    }
}
