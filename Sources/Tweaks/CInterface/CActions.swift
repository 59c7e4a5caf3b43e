internal import FBTweak

@c(fbtweak__run)
func run(tweak: UnsafePointer<fbtweak>?) -> CInt {
    returningCode { () throws(CFailure) in
        let key = try TweakStore.shared.key(of: tweak)
        return try orFailure { () throws(TweakError) in try TweakStore.shared.run(key) }
    }
}
