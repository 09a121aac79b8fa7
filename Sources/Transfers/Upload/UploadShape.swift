internal import Interceptors

extension CallShape {
    /// The shape of a request to the URL of an upload that resumes: its offset says what it is for, no cache answers a question for the
    /// offset, and a server that refuses a part may have kept some of it.
    static func continuingUpload(_ method: HTTPRequest.Method) -> Self {
        var shape = Self()
        (shape.mayStore, shape.mayCompress, shape.mayGetIdempotencyKey, shape.refusalMeansNothingKept) = (
            false, false, false, false
        )
        shape.mayResend = method == .head || method == .delete
        return shape
    }
}
