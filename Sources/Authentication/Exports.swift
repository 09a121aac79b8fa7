@_exported public import Interceptors
