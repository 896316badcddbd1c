within ;
package Kilohertz "Components for models that run in real time: no other library is needed"
  annotation(version="0.1.0");
end Kilohertz;
