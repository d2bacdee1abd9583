//! Dense typed ids, given in file order. Names are text in scenarios and reports, ids everywhere in between.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id that no object has, where one is absent.
            pub const NONE: Self = Self(u32::MAX);

            /// Position in the dense table of these objects.
            #[inline]
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id at a position of its table.
            ///
            /// # Panics
            /// If the position does not fit an id; tables are bounded far below that when they are read.
            #[inline]
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                assert!(index < u32::MAX as usize, "more objects than ids");
                Self(index as u32)
            }

            /// Whether this is [`Self::NONE`].
            #[inline]
            #[must_use]
            pub fn is_none(self) -> bool {
                self == Self::NONE
            }
        }
    };
}

id! {
    /// A node of the fabric, numbered depth-first in file order.
    NodeId
}
id! {
    /// One direction of a link: tree links first (depth-first, up before down), then lateral ones.
    LinkId
}
id! {
    /// An interned route: the ordered links of a transfer.
    RouteId
}
id! {
    /// Transfers that agree in route, limit, weight and priority are of one class.
    ClassId
}
id! {
    /// A transfer, in expansion (file) order.
    TransferId
}
