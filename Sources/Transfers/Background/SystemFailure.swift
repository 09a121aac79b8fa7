internal import Foundation
internal import Interceptors

#if canImport(InterceptorsURLSession)
internal import InterceptorsURLSession
#endif

/// The meaning of an error with which the system's session ends a task.
///
/// A value without the session, so that Linux tests it too.
enum SystemFailure {
    /// - Parameter hasHead: whether the head of a response had arrived.
    static func failure(_ error: any Error, hasHead: Bool) -> TransferFailure {
        let system = error as NSError
        switch system.domain == NSURLErrorDomain ? system.code : 0 {
        case NSURLErrorCancelled:
            let reason = (system.userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? NSNumber)?.intValue
            let message = "The system cancelled the transfer \(text(ofReason: reason)). Enqueue it again."
            return TransferFailure(.cancelledBySystem, message)
        case NSURLErrorBackgroundSessionWasDisconnected:
            let message = "The system's service for background transfers ended. Enqueue the transfer again."
            return TransferFailure(.transferLost, message)
        case NSURLErrorBackgroundSessionInUseByAnotherProcess:
            let message = "Another process has a background session with this identifier. Give each app its own."
            return TransferFailure(.identifierInUse, message)
        case NSURLErrorBackgroundSessionRequiresSharedContainer:
            return TransferFailure(.unsupported, "A background session of an app extension isn't supported.")
        default:
            let failure = SessionFailure.error(error, hasHead: hasHead)
            return TransferFailure(failure.code, failure.message)
        }
    }

    /// The numbers are those of `URLError.BackgroundTaskCancelledReason`.
    private static func text(ofReason reason: Int?) -> String {
        switch reason {
        case 0: "because the user quit the app"
        case 1: "because the user doesn't allow the app to update in the background"
        case 2: "because the system ran short of resources"
        default: "without a reason"
        }
    }
}
